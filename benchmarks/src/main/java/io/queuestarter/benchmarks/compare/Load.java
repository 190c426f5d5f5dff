package io.queuestarter.benchmarks.compare;

/**
 * Records of a scenario.
 *
 * @param broker whether a broker holds them; if not, the consumer makes them itself
 * @param partitions number of partitions
 * @param backlog records that are there before the consumers start
 * @param hot whether the backlog is all in partition 0
 * @param rate records sent a second while the consumers run, 0 for none; those of a hot
 * partition's scenario go to the others
 * @param paced how many are sent at that rate
 * @param valueBytes size of a value
 * @param keys keys of the records
 */
record Load(boolean broker, int partitions, int backlog, boolean hot, int rate, int paced, int valueBytes, Keys keys) {

	static Load backlog(int partitions, int records) {
		return new Load(true, partitions, records, false, 0, 0, 100, Keys.EVEN);
	}

	Load withoutBroker() {
		return new Load(false, this.partitions, this.backlog, this.hot, this.rate, this.paced, this.valueBytes,
				this.keys);
	}

	Load paced(int perSecond, int seconds) {
		return new Load(this.broker, this.partitions, this.backlog, this.hot, perSecond, perSecond * seconds,
				this.valueBytes, this.keys);
	}

	Load onHotPartition() {
		return new Load(this.broker, this.partitions, this.backlog, true, this.rate, this.paced, this.valueBytes,
				this.keys);
	}

	Load ofBytes(int size) {
		return new Load(this.broker, this.partitions, this.backlog, this.hot, this.rate, this.paced, size, this.keys);
	}

	/** Records of a key go to one partition. */
	Load keyed(Keys by) {
		return new Load(this.broker, this.partitions, this.backlog, this.hot, this.rate, this.paced, this.valueBytes,
				by);
	}

	Load times(double factor) {
		return new Load(this.broker, this.partitions,
				(int) Math.max(Math.min(500, this.backlog), this.backlog * factor), this.hot, this.rate,
				(int) (this.paced * factor), this.valueBytes, this.keys);
	}

	int records() {
		return this.backlog + this.paced;
	}

	/** Records that are waited for. */
	int awaited() {
		return records() - (this.keys.hot() ? this.backlog / 2 : 0);
	}

	/** Whether all records are waited for. */
	boolean isAllAwaited() {
		return !this.hot && !this.keys.hot();
	}

	/** Partition of a record, if that does not follow from its key. */
	int partitionOf(int number) {
		if (!this.hot) {
			return number % this.partitions;
		}
		return (number < this.backlog) ? 0 : 1 + number % (this.partitions - 1);
	}

	/** Number of the n-th record of a partition's backlog. */
	int numberOf(int partition, int n) {
		return this.hot ? n : n * this.partitions + partition;
	}

	/** Records of the backlog in a partition. */
	int backlogOf(int partition) {
		if (this.hot) {
			return (partition == 0) ? this.backlog : 0;
		}
		return (this.backlog - partition + this.partitions - 1) / this.partitions;
	}

}
