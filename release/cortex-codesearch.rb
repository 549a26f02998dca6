# Not tested. To be set for each release: OWNER, the version, and the four sums (SHA256SUMS has them).
class CortexCodesearch < Formula
  desc "Search engine for code that agents and people keep open beside a repository"
  homepage "https://github.com/OWNER/cortex-codesearch"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  conflicts_with "cortex", because: "both install a command `cortex`"

  release = "https://github.com/OWNER/cortex-codesearch/releases/download/v#{version}/cortex-codesearch-#{version}"
  on_macos do
    on_arm do
      url "#{release}-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{release}-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end
  on_linux do
    on_arm do
      url "#{release}-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "#{release}-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "cortex", "cortex-codesearch"
    doc.install "README.md", "THIRD-PARTY-NOTICES"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/cortex --version")
    (testpath/"retry.rs").write "/// Waits after each failed attempt.\nfn retry_with_backoff() {}\n"
    assert_match "retry.rs", shell_output("#{bin}/cortex search 'retry with backoff'")
  end
end
