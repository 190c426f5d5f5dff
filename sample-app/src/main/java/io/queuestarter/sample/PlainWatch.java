package io.queuestarter.sample;

import java.time.Instant;

/**
 * Watches a {@code @KafkaListener}: the broker knows its committed offset, the rest is
 * counted. Nothing is settled but by the commit.
 *
 * @param design which listener
 * @param start offset at which it started
 * @param tally what it did since
 * @param cluster knows the committed offset
 * @param providers know the calls under way
 */
record PlainWatch(Design design, long start, Tally tally, Cluster cluster, Providers providers) implements Watch {

	@Override
	public Progress look() {
		long committed = this.cluster.committed(this.design);
		long above = Math.max(0, this.tally.charged() - (committed - this.start));
		return new Progress(committed, committed, above, this.providers.running(), this.tally.oldestAge(Instant.now()),
				0);
	}

}
