package diff

// What the tests use, which are outside of the package because package pipeline imports it.

const PartitionBytes = partitionBytes

var (
	Compare    = (*Change).compare
	KindOf     = kindOf
	Partitions = partitions
)
