//! Whose work comes next, when several clients want more than the cores can do: each client in turn,
//! whatever number of calls it has.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How often a waiting thread looks whether its call was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The number of a client. Calls of no client have number 0.
pub type ClientId = u64;

/// A limited number of turns, given to clients in a circle.
#[derive(Debug)]
pub struct Turns {
    /// How many are out at a time.
    most: usize,
    /// A client without any turn gets one after this long, also beyond the limit: turns may be held by
    /// calls that wait for something.
    patience: Duration,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of turns of each client that has any.
    out: HashMap<ClientId, usize>,
    n_out: usize,
    /// The tickets of the threads that wait.
    waiting: BTreeMap<ClientId, VecDeque<u64>>,
    /// The tickets of those that may go on.
    granted: HashSet<u64>,
    /// The client that got the last turn.
    last: ClientId,
    n_tickets: u64,
}

impl State {
    fn give(&mut self, client: ClientId) {
        *self.out.entry(client).or_default() += 1;
        self.n_out += 1;
        self.last = client;
    }

    /// Removes a ticket from those that wait.
    fn leave(&mut self, client: ClientId, ticket: u64) {
        if let Some(tickets) = self.waiting.get_mut(&client) {
            tickets.retain(|waiting| *waiting != ticket);
            if tickets.is_empty() {
                self.waiting.remove(&client);
            }
        }
    }

    /// Gives free turns to those that wait: to the client after the last one first.
    fn hand_on(&mut self, most: usize) {
        while self.n_out < most {
            let after = (Bound::Excluded(self.last), Bound::Unbounded);
            let next = self.waiting.range(after).chain(self.waiting.iter()).next();
            let Some((&client, tickets)) = next else { break };
            let ticket = tickets[0];
            self.leave(client, ticket);
            self.granted.insert(ticket);
            self.give(client);
        }
    }
}

impl Turns {
    #[must_use]
    pub fn new(most: usize, patience: Duration) -> Self {
        Self { most, patience, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits for a turn. Returns `None` when the call is not wanted any more.
    pub fn take(&self, client: ClientId, is_wanted: impl Fn() -> bool) -> Option<Turn<'_>> {
        let mut state = self.state.lock();
        let turn = Turn { turns: self, client };
        if state.n_out < self.most && state.waiting.is_empty() {
            state.give(client);
            return Some(turn);
        }
        let ticket = state.n_tickets;
        state.n_tickets += 1;
        state.waiting.entry(client).or_default().push_back(ticket);
        let begin = Instant::now();
        loop {
            self.freed.wait_for(&mut state, LOOK);
            if state.granted.remove(&ticket) {
                return Some(turn);
            }
            if !is_wanted() {
                state.leave(client, ticket);
                drop(state);
                std::mem::forget(turn);
                return None;
            }
            if begin.elapsed() >= self.patience && !state.out.contains_key(&client) {
                state.leave(client, ticket);
                state.give(client);
                return Some(turn);
            }
        }
    }
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<'t> {
    turns: &'t Turns,
    client: ClientId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state.lock();
        state.n_out -= 1;
        if let Some(n) = state.out.get_mut(&self.client) {
            *n -= 1;
            if *n == 0 {
                state.out.remove(&self.client);
            }
        }
        state.hand_on(self.turns.most);
        self.turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn n_waiting(turns: &Turns) -> usize {
        turns.state.lock().waiting.values().map(VecDeque::len).sum()
    }

    #[test]
    fn clients_get_turns_in_a_circle_whatever_number_of_calls_they_have() {
        let turns = Arc::new(Turns::new(1, LONG));
        let first = turns.take(1, || true).unwrap();
        let (done, order) = channel();
        let mut threads = Vec::new();
        for (n, client) in [1, 1, 1, 1, 2, 3, 2].into_iter().enumerate() {
            let (own, done) = (turns.clone(), done.clone());
            threads.push(std::thread::spawn(move || {
                let _turn = own.take(client, || true).unwrap();
                done.send(client).unwrap();
            }));
            while n_waiting(&turns) <= n {
                std::thread::yield_now();
            }
        }
        drop(first);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [2, 3, 1, 2, 1, 1, 1]);
        assert_eq!(turns.state.lock().n_out, 0);
    }

    #[test]
    fn a_client_without_a_turn_does_not_wait_for_those_that_hold_theirs() {
        let turns = Turns::new(1, Duration::ZERO);
        let held = turns.take(1, || true).unwrap();
        let other = turns.take(2, || true).unwrap();
        // The first client has its turn already, and this call is not wanted any more.
        assert!(turns.take(1, || false).is_none());
        drop((held, other));
        assert_eq!(turns.state.lock().n_out, 0);
        assert!(turns.take(1, || true).is_some());
    }
}
