//go:build clouds

package storage_test

import (
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

// The servers are programs of others. See make test-clouds.
var (
	azurite = flag.String("azurite", "", "the program azurite-blob")
	fakeGCS = flag.String("fake-gcs", "", "the program fake-gcs-server")
	program = flag.String("bulkcat", "", "bulkcat, built with -tags clouds")
)

// The account of Azurite, whose key is public.
const (
	account    = "devstoreaccount1"
	accountKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// listen runs a server, and waits until the server answers.
func listen(t *testing.T, url, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	for range 500 {
		if response, err := http.Get(url); err == nil {
			response.Body.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not answer", name)
}

func freeAddress(t *testing.T) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, _ = net.SplitHostPort(l.Addr().String())
	return host, port
}

// startAzurite returns the URL of a container.
func startAzurite(t *testing.T) string {
	host, port := freeAddress(t)
	listen(t, "http://"+host+":"+port, *azurite, "--silent", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--blobHost", host, "--blobPort", port)
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", accountKey)
	t.Setenv("AZURE_STORAGE_DOMAIN", host+":"+port)
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	t.Setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true")
	key, err := azblob.NewSharedKeyCredential(account, accountKey)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential("http://"+host+":"+port+"/"+account, key, nil)
	if err == nil {
		_, err = client.CreateContainer(t.Context(), "bucket", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "azblob://bucket"
}

// startGCS returns the URL of a bucket.
func startGCS(t *testing.T) string {
	host, port := freeAddress(t)
	data := t.TempDir()
	if err := os.MkdirAll(filepath.Join(data, "bucket"), 0o777); err != nil {
		t.Fatal(err)
	}
	listen(t, "http://"+host+":"+port+"/storage/v1/b", *fakeGCS, "-scheme", "http", "-backend", "memory", "-data", data,
		"-host", host, "-port", port, "-public-host", host+":"+port, "-external-url", "http://"+host+":"+port)
	t.Setenv("STORAGE_EMULATOR_HOST", host+":"+port)
	return "gs://bucket"
}

// TestClouds uses real servers with the interfaces of two clouds.
func TestClouds(t *testing.T) {
	for name, start := range map[string]struct {
		program *string
		start   func(*testing.T) string
	}{"Azure Blob Storage": {azurite, startAzurite}, "Google Cloud Storage": {fakeGCS, startGCS}} {
		t.Run(name, func(t *testing.T) {
			if *start.program == "" {
				t.Skip("no server: see make test-clouds")
			}
			bucket := start.start(t)
			runSuite(t, bucket)
			t.Run("runs", func(t *testing.T) { testCloudRuns(t, bucket) })
		})
	}
}

// bulkcat reads and writes objects, and verifies them.
func testCloudRuns(t *testing.T, bucket string) {
	if *program == "" {
		t.Skip("no program")
	}
	publish(t, bucket+"/lists/in.csv", "title,sku\nwireless keyboard,1\noak table,2\nred shoe,3\n")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("BULKCAT_BASE_URL", "")
	for _, args := range [][]string{
		{"product", bucket + "/lists/*.csv", "-o", bucket + "/out/result.parquet", "--quiet"},
		{"verify", bucket + "/out/result.parquet", bucket + "/lists/in.csv"},
		{"product", bucket + "/lists/in.csv", "-o", bucket + "/out/all/", "--shard", "1/1", "--quiet"},
		{"finish", bucket + "/out/all/", "-o", bucket + "/out/merged.parquet"},
	} {
		cmd := exec.Command(*program, args...)
		cmd.Dir = t.TempDir()
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
}
