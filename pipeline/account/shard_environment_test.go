package account

import (
	"strings"
	"testing"
)

func TestShardFromEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		environment string
		want        string // the shard, or a part of the error
	}{
		"generic":                             {"BULKCAT_SHARD_INDEX=0 BULKCAT_SHARD_COUNT=4", "1/4"},
		"generic before a scheduler":          {"BULKCAT_SHARD_INDEX=3 BULKCAT_SHARD_COUNT=4 SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2", "4/4"},
		"Slurm from 0":                        {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=1", "4/8"},
		"Slurm from 1":                        {"SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", "8/8"},
		"Slurm with steps":                    {"SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", "8/8"},
		"Slurm between steps":                 {"SLURM_ARRAY_TASK_ID=13 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", "must follow each other"},
		"Slurm with gaps":                     {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1", "must follow each other"},
		"Slurm alone":                         {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=5", "1/1"},
		"Slurm alone, with the generic count": {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=5 BULKCAT_SHARD_COUNT=8", "name its shard, such as 3/8"},
		"Slurm with the same generic count":   {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 BULKCAT_SHARD_COUNT=8", "6/8"},
		"Kubernetes":                          {"JOB_COMPLETION_INDEX=2 BULKCAT_SHARD_COUNT=3", "3/3"},
		"Kubernetes without a count":          {"JOB_COMPLETION_INDEX=2", "JOB_COMPLETION_INDEX is 2, but the number of shards is not known: set BULKCAT_SHARD_COUNT"},
		"AWS Batch":                           {"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=10", "1/10"},
		"AWS Batch without a size":            {"AWS_BATCH_JOB_ARRAY_INDEX=0 BULKCAT_SHARD_COUNT=10", "1/10"},
		"Cloud Run":                           {"CLOUD_RUN_TASK_INDEX=9 CLOUD_RUN_TASK_COUNT=10", "10/10"},
		"two schedulers":                      {"CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=1 JOB_COMPLETION_INDEX=1", "several schedulers (JOB_COMPLETION_INDEX, CLOUD_RUN_TASK_INDEX)"},
		"beyond the count":                    {"JOB_COMPLETION_INDEX=3 BULKCAT_SHARD_COUNT=3", "not one of 3 indexes from 0"},
		"no number":                           {"JOB_COMPLETION_INDEX=x BULKCAT_SHARD_COUNT=3", `JOB_COMPLETION_INDEX is "x", not a number`},
		"below 0":                             {"JOB_COMPLETION_INDEX=-1 BULKCAT_SHARD_COUNT=3", "not a number from 0"},
		"only a count":                        {"BULKCAT_SHARD_COUNT=3", "names no task of an array"},
		"empty":                               {"", "names no task of an array"},
	} {
		t.Run(name, func(t *testing.T) {
			environment := make(map[string]string)
			for _, pair := range strings.Fields(tt.environment) {
				name, value, _ := strings.Cut(pair, "=")
				environment[name] = value
			}
			s, err := ShardFromEnvironment(func(name string) string { return environment[name] })
			if got := s.String() + errorText(err); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
