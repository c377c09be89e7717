class Bulkcat < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.URL "darwin" "arm64"}}"
      sha256 "{{.SHA256 "darwin" "arm64"}}"
    end
    on_intel do
      url "{{.URL "darwin" "amd64"}}"
      sha256 "{{.SHA256 "darwin" "amd64"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL "linux" "arm64"}}"
      sha256 "{{.SHA256 "linux" "arm64"}}"
    end
    on_intel do
      url "{{.URL "linux" "amd64"}}"
      sha256 "{{.SHA256 "linux" "amd64"}}"
    end
  end

  def install
    bin.install "bulkcat"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"bulkcat", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bulkcat --version")
    (testpath/"in.csv").write("title\nCast iron skillet 12 in\n")
    system bin/"bulkcat", "product", "in.csv", "-o", "out.csv"
    assert_match "ok", (testpath/"out.csv").read
  end
end
