//! Recognises natural languages other than English: by their function words, of which nearly every
//! sentence has some, or by their letters. A [`Dictionary`] has the words that questions about
//! code use, because most code and the bundled model know English only.

mod dictionary;

use super::stop_words::{is_one_of, is_stop_word};
use super::tokens::{is_ideograph, lower, runs};
pub(super) use dictionary::Meant;
use dictionary::{Dictionary, Writes, is_hangul, plain_words};

/// A natural language.
#[derive(Debug)]
pub(super) struct NaturalLanguage {
    /// Its English name.
    pub(super) name: &'static str,
    /// Its function words, with blanks between and around them; empty for a language that is recognised
    /// by its letters.
    words: &'static str,
    dictionary: Dictionary,
}

static LANGUAGES: [NaturalLanguage; 11] = [
    NaturalLanguage {
        name: "German",
        words: " aber alle allem allen aller alles als also am auch auf aus außer bei beim bevor bin bis bist da dabei dadurch dafür damit danach dann das \
dass daß davon dazu dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort durch ein eine einem einen einer eines er es \
etwas für gegen gibt habe haben hat hatte hier ich ihr ihre im ist ja jede jedem jeden jeder jedes kann kein keine keinen können könnte man mehr mein \
mit muss müssen nach nicht nichts noch nur ob oder ohne sein seine sich sie sind soll sollen sollte sowie über um und uns unter vom von vor wann war \
waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso wir wird wo wobei wodurch woher wohin wurde wurden \
zu zum zur zwischen ",
        dictionary: Dictionary::new(Writes::Compounds, include_str!("words/german.txt")),
    },
    NaturalLanguage {
        name: "French",
        words: " ai alors après au aucun aucune aussi autre autres aux avant avec avoir car ce cela celle celui ces cet cette ceux chaque chez comme comment \
dans de depuis des dont du elle elles en entre est et étaient était être eux fait faire il ils je la laquelle le lequel les leur leurs lors lorsque lui \
ma mais même mes mon ne nos notre nous on ont ou où par parce pas pendant peut plus pour pourquoi puis quand que quel quelle quelles quels qui quoi sa \
sans se sera ses si son sont sous sur ta tous tout toute toutes très tu un une vers vos votre vous à ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/french.txt")),
    },
    NaturalLanguage {
        name: "Spanish",
        words: " al algo algún alguna ante antes aquí así aunque cada como cómo con contra cual cuál cuando cuándo cuánto de del desde después donde dónde dos \
durante el él ella ellos en entre era es esa ese eso esta está están estas este esto estos fue ha hace hacer hacia han hasta hay la las le les lo los \
más me mi mientras muy nada ni no nos nuestro o otra otro para pero por porque pueda puede pueden que qué quién se según ser si sí sin sobre solo son su \
sus también tiene tienen todo todos tras tu un una uno unos y ya ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/spanish.txt")),
    },
    NaturalLanguage {
        name: "Italian",
        words: " a ad agli ai al alla alle allo anche ancora che chi ci come con cosa così cui da dai dal dalla dalle degli dei del della delle dello di dopo \
dove due e è era essere fa fra fino già gli ha hanno i il in invece io la le lei lo loro lui ma mentre mi mio molto ne nei nel nella nelle nello noi non \
nostro o ogni oppure per perché però più può poi prima qual quale quali quando quanto quella quello questa queste questi questo se sei senza si sia sono \
sopra sotto sta stato su sua sue sugli sui sul sulla suo tra tutte tutti tutto un una uno viene vengono voi ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/italian.txt")),
    },
    NaturalLanguage {
        name: "Portuguese",
        words: " a ainda além alguma algum ante antes ao aos apenas aquela aquele as até cada com como da das de dela dele depois desde do dos e é ela ele eles \
em entre era essa esse esta está estão este eu foi for há isso isto já lhe mais mas me mesmo meu muito na nas não nem no nos nossa nosso num numa o onde \
os ou para pela pelas pelo pelos pode podem por porque quais qual quando que quem se sem ser será seu seus só são sobre sua suas também tem têm todas \
todos tudo um uma você à às ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/portuguese.txt")),
    },
    NaturalLanguage {
        name: "Dutch",
        words: " aan al alle als altijd ben bij daar dan dat de deze die dit doet door dus een elke en er geen gebruikt had heb hebben heeft hem het hier hoe \
hun iets ik in is je kan kunnen maar mag meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat ons onder ook op over te tegen tot tussen \
tijdens uit van vanuit veel voor waar waarom wanneer want waren was wat we wel welk welke werd werden wie wordt worden zal ze zich zij zijn zo zodat \
zonder zou zullen ",
        dictionary: Dictionary::new(Writes::Compounds, include_str!("words/dutch.txt")),
    },
    NaturalLanguage {
        name: "Polish",
        words: " a aby albo ale bez bo być był była było były co czy czyli dla dlaczego do gdy gdzie go i ich im innych ja jak jaki jaka jakie jako jego jej \
jest jeśli jeżeli już kiedy kto która które którego której który których ktory ktora ktore lub ma mają między może można na nad nie niż o od oraz po pod \
podczas poza przed przez przy są się skąd sposób ta tak także tam te tego tej ten to też tu tych tylko tym u w we wszystkie więc z za zanim zawsze ze został \
została że żeby ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/polish.txt")),
    },
    NaturalLanguage {
        name: "Russian",
        words: " а без бы был была были было быть в во где для до его ее если есть же за и из или их к как какая какие каким какой какую когда которая которые \
который кто куда ли между мы на над не нет но о об он она они от откуда по под после почему при с со так также там то тоже только у чего чем через что \
чтобы это этот ",
        dictionary: Dictionary::new(Writes::Apart, include_str!("words/russian.txt")),
    },
    NaturalLanguage {
        name: "Japanese",
        words: "",
        dictionary: Dictionary::new(Writes::Together, include_str!("words/japanese.txt")),
    },
    NaturalLanguage {
        name: "Chinese",
        words: "",
        dictionary: Dictionary::new(Writes::Together, include_str!("words/chinese.txt")),
    },
    NaturalLanguage {
        name: "Korean",
        words: "",
        dictionary: Dictionary::new(Writes::Together, include_str!("words/korean.txt")),
    },
];

/// Function words that are also words or abbreviations in English text and code, and so say less.
const ALSO_ENGLISH: &str = " ad al also am as au bin bis car ci come comment con da das de del dem den der des die do dos dove du due el em en er es est for go \
ha had han hat he hem her him hun i ich il im in is ja la las le les lo los lot ma man mag mas me men met mi mon na nas ne nos nu o of om on op or os ou over \
par para pas pero plus po pod por pour prima qui sa sans se sei ser set si sia sin so solo son sous sta sur ta tam te to todo tot tout tu un uno was we war \
wie wo ze ";

/// The points of a function word, and of one that is also an English word.
const SURE: usize = 2;
const UNSURE: usize = 1;
/// A language is recognised from this many points on.
const ENOUGH: usize = 3;
/// At least one of so many words is a function word of the language.
const ONE_OF: usize = 5;

/// Fewest syllables or ideographs, and fewest letters, of a text in such a language.
const LEAST_SYLLABLES: usize = 2;
const LEAST_LETTERS: usize = 4;
/// Fewest letters of the words of a phrase that are not English.
const LEAST_OF_PHRASE: usize = 5;
/// A text of more words has function words, or is no phrase.
const MOST_OF_PHRASE: usize = 12;
/// Letters that a syllable or an ideograph is worth.
const LETTERS: usize = 2;
/// A text has at most so many Latin letters for each letter of the language, or it is English.
const MOST_LATIN: usize = 2;

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{0400}'..='\u{04ff}')
}

impl NaturalLanguage {
    /// Returns the language that a text may be in if its dictionary has nothing of it: a Japanese word
    /// may have no letters but those that are Chinese, too.
    pub(super) fn resembled(&self) -> Option<&'static Self> {
        let other = if self.name == "Chinese" { "Japanese" } else { "" };
        LANGUAGES.iter().find(|language| language.name == other)
    }

    /// Returns the language of a text, unless it is English or has too few function words.
    pub(super) fn of(text: &str) -> Option<&'static Self> {
        Self::by_letters(text).or_else(|| Self::by_function_words(text))
    }

    /// Recognises a language that has letters of its own, if a part of the text is written in them.
    fn by_letters(text: &str) -> Option<&'static Self> {
        let n = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
        let latin = n(|c| c.is_ascii_alphabetic());
        let (kana, hangul, syllables, cyrillic) =
            (n(is_kana), n(is_hangul), n(is_ideograph), n(is_cyrillic));
        // An ideograph is about half a word, and a syllable nearly so much.
        let (name, own) = if kana > 0 && syllables >= LEAST_SYLLABLES {
            ("Japanese", LETTERS * syllables)
        } else if hangul >= LEAST_SYLLABLES {
            ("Korean", LETTERS * hangul)
        } else if syllables >= LEAST_SYLLABLES {
            ("Chinese", LETTERS * syllables)
        } else if cyrillic >= LEAST_LETTERS {
            ("Russian", cyrillic)
        } else {
            return None;
        };
        LANGUAGES.iter().find(|language| language.name == name && own * MOST_LATIN >= latin)
    }

    fn by_function_words(text: &str) -> Option<&'static Self> {
        let mut words: Vec<String> = runs(text).map(|run| lower(&text[run.range])).collect();
        words.sort_unstable();
        words.dedup();
        let (english, others): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| is_stop_word(word));
        let points = |language: &Self| {
            let n_english = english.iter().filter(|word| !language.has(word)).count();
            let own = others.iter().filter(|word| language.has(word));
            let (n, points) = own.fold((0, 0), |(n, points), word| {
                let worth = if is_one_of(ALSO_ENGLISH, word) { UNSURE } else { SURE };
                (n + 1, points + worth)
            });
            let is_enough =
                points >= ENOUGH && points > SURE * n_english && n * ONE_OF >= words.len();
            if is_enough { points } else { 0 }
        };
        let all = LANGUAGES.iter().map(|language| (points(language), language));
        // Of equal ones, the first.
        let best = all.rev().max_by_key(|(points, _)| *points);
        best.filter(|(points, _)| *points > 0).map(|(_, language)| language)
    }

    /// Returns the words of a text that its dictionary has, in order.
    pub(super) fn translations(&self, text: &str) -> Vec<Meant> {
        self.dictionary.translations(text, |word| self.has(word))
    }

    /// Whether it has a lower-case word: as a function word, or with a translation that is another word.
    fn explains(&self, word: &str) -> bool {
        let english = self.dictionary.of_word(word);
        self.has(word) || !english.is_empty() && english.iter().all(|english| *english != word)
    }

    /// Recognises the language of a phrase without enough function words, by its dictionary: it has
    /// more than half of the words, and all that are not English.
    pub(super) fn of_phrase(
        text: &str,
        is_english: &dyn Fn(&str) -> bool,
    ) -> Option<&'static Self> {
        let words: Vec<String> =
            plain_words(text).into_iter().map(|word| lower(&text[word])).collect();
        let (english, foreign): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| is_english(word) || is_stop_word(word));
        let n_letters = foreign.iter().map(|word| word.chars().count()).sum::<usize>();
        if n_letters < LEAST_OF_PHRASE || words.len() > MOST_OF_PHRASE {
            return None;
        }
        let n_own = |language: &'static Self| {
            if !foreign.iter().all(|word| language.explains(word)) {
                return 0;
            }
            let own = english.iter().filter(|word| language.explains(word)).count() + foreign.len();
            if 2 * own > words.len() { own } else { 0 }
        };
        let best = LANGUAGES.iter().map(|language| (n_own(language), language)).rev();
        best.max_by_key(|(n, _)| *n).filter(|(n, _)| *n > 0).map(|(_, language)| language)
    }

    /// Whether a lower-case word is a function word of this language.
    pub(super) fn has(&self, word: &str) -> bool {
        is_one_of(self.words, word)
    }
}

/// Whether a lower-case word is a function word of any of the languages.
pub(super) fn is_function_word(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.has(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> &'static str {
        NaturalLanguage::of(text).map_or("", |language| language.name)
    }

    #[test]
    fn questions_are_recognised_by_their_function_words() {
        for (text, want) in [
            ("Wie wird sichergestellt, dass die Verbindung geschlossen wird?", "German"),
            ("wo ist der Parser für Konfigurationsdateien", "German"),
            ("dass wird", "German"),
            ("Comment est fermée la connexion quand le serveur s'arrête ?", "French"),
            ("où sont lus les fichiers de configuration", "French"),
            ("¿Cómo se cierra la conexión cuando falla el servidor?", "Spanish"),
            ("dónde están los archivos de configuración", "Spanish"),
            ("come viene chiusa la connessione quando il server si ferma", "Italian"),
            ("dove sono letti i file della configurazione", "Italian"),
            ("como a conexão é fechada quando não há mais dados", "Portuguese"),
            ("hoe wordt de verbinding gesloten als het niet lukt", "Dutch"),
            ("jak jest zamykane połączenie gdy serwer nie odpowiada", "Polish"),
        ] {
            assert_eq!(name(text), want, "{text}");
        }
    }

    #[test]
    fn phrases_are_recognised_by_their_words() {
        let english = " error handling fix file on the server save delete document user in login cookie data model des ";
        let is_english = |word: &str| english.contains(&format!(" {word} "));
        for (text, want) in [
            ("Fehlerbehandlung", "German"),
            ("Datei speichern", "German"),
            ("Benutzer sperren", "German"),
            ("gestion des erreurs", "French"),
            ("limite de requisições por usuário", "Portuguese"),
            ("obsługa błędów", "Polish"),
            ("Qui appelle multi_runsingle ?", "French"),
            ("error handling", ""),
            ("fix the login cookie", ""),
            ("multi_runsingle", ""),
            ("getUserById Foo::bar src/datei.rs", ""),
            ("save file on server xkcd", ""),
        ] {
            let found = NaturalLanguage::of_phrase(text, &is_english);
            assert_eq!(found.map_or("", |language| language.name), want, "{text}");
        }
    }

    fn english(text: &str) -> String {
        let language = NaturalLanguage::of(text).expect("the language is recognised");
        let found = language.translations(text).into_iter().map(|meant| meant.english.join("/"));
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_of_a_question_are_translated() {
        for (question, wanted) in [
            (
                "Wo wird die Verbindung nach einem Fehler geschlossen?",
                "connection/connect error close",
            ),
            ("Comment les mots de passe sont-ils chiffrés ?", "password encrypt"),
            ("¿Dónde se lee la base de datos?", "read database"),
            ("где закрывается соединение", "close connection"),
            ("キャッシュを削除する", "cache delete/remove"),
            ("如何解析配置文件", "parse config"),
            ("연결을 닫는 곳", "connect close"),
        ] {
            let found = english(question);
            let has = |word: &str| found.split([' ', '/']).any(|of| of == word);
            assert!(wanted.split([' ', '/']).any(has), "{question}: {found}");
            let n = wanted.split(' ').filter(|of| of.split('/').any(has)).count();
            assert_eq!(n, wanted.split(' ').count(), "{question}: {found}");
        }
    }

    #[test]
    fn a_compound_is_translated_by_its_parts() {
        let found = english("wie wird der Verbindungsfehler behandelt");
        assert!(found.contains("connection") && found.contains("error"), "{found}");
    }

    #[test]
    fn words_without_the_signs_of_their_language_are_translated() {
        for (question, wanted) in [
            ("wo wird der Schluessel geloescht", "key delete"),
            ("comment les requetes sont verifiees", "request verify"),
        ] {
            let found = english(question);
            assert!(wanted.split(' ').all(|word| found.contains(word)), "{question}: {found}");
        }
    }

    #[test]
    fn runs_of_any_length_are_translated() {
        let n = 16_000;
        assert_eq!(NaturalLanguage::of("缓").map(|language| language.name), None);
        assert!(english(&"缓存".repeat(n / 2)).starts_with("cache"));
        let german = format!("wie wird der Fehler {} behandelt", "verbindung".repeat(n / 10));
        assert!(english(&german).contains("connection"));
    }

    #[test]
    fn the_ending_of_a_korean_word_is_no_word() {
        assert!(!english("서버를 정지시키면 어디인가요").contains("key"));
        assert!(english("키를 저장").contains("key"));
    }

    #[test]
    fn every_entry_has_english_words_and_stands_once() {
        for language in &LANGUAGES {
            let mut seen = std::collections::HashSet::new();
            for (entry, english) in language.dictionary.lines() {
                assert!(entry.len() <= dictionary::LONGEST, "{}: {entry}", language.name);
                assert!(seen.insert(entry), "{}: {entry} stands twice", language.name);
                assert!(
                    english.split(' ').all(
                        |word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())
                    ),
                    "{}: {entry}",
                    language.name
                );
            }
        }
    }

    #[test]
    fn english_questions_and_names_are_of_no_other_language() {
        for text in [
            "how is the connection closed when the server dies",
            "where does a die roll become a number",
            "parse a DER certificate in the PEM format",
            "what is para in the comment of con",
            "acquire_lock",
            "de la Cruz method of the solver",
            "connection pool",
            "so was it the car or the man",
            "for do in of",
            "",
        ] {
            assert_eq!(name(text), "", "{text}");
        }
    }
}
