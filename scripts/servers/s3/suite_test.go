package s3

import (
	"os"
	"os/exec"
	"testing"
)

// The suite that every storage passes, in a bucket of a real server.
func TestSuite(t *testing.T) {
	t.Parallel()
	w := start(t)
	cmd := exec.Command("go", "test", "./pipeline/storage", "-count", "1", "-run", "TestStorages", "-storages", "s3://bucket/suite?endpoint="+w.endpoint)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=testkey", "AWS_SECRET_ACCESS_KEY=testsecret", "AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if n := w.uploads(); n > 0 {
		t.Errorf("%d uploads are left", n)
	}
}
