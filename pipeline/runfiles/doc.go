// Package runfiles has the files of a run: their paths, and how they are read and written. Package account defines their
// content. Account, manifest and shards are written whole or not at all. Journal and status change during a run: readers leave
// out damaged lines of a journal, and each status replaces the status before.
package runfiles
