# Not tested: the image was never built.
#
#     docker build -t cortex-codesearch .
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/repository" cortex-codesearch search "where are retries counted"
#     docker run --rm -i --user "$(id -u):$(id -g)" -v "$PWD:/repository" cortex-codesearch mcp
FROM rust:1.91-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends binutils gcc g++ libc6-dev make && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
RUN cargo build --locked --profile dist --bins --features team

FROM debian:bookworm-slim
# Cortex asks git for the messages of commits, and the certificates are for a server of vectors (embed.url).
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/* \
    # The mounted repository belongs to another user than the one in here.
    && git config --system --add safe.directory '*'
COPY --from=build /build/target/dist/cortex /build/target/dist/cortex-codesearch /usr/local/bin/
COPY --from=build /build/LICENSE-APACHE /build/LICENSE-MIT /usr/share/doc/cortex-codesearch/
# The index goes to .cortex in the repository, so `--user` must name a user who may write there. Any user may write to this home.
ENV HOME=/home/cortex
RUN useradd --uid 1000 --create-home cortex && chmod 1777 /home/cortex
USER cortex
WORKDIR /repository
ENTRYPOINT ["cortex"]
