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
 */
record Load(boolean broker, int partitions, int backlog, boolean hot, int rate, int paced, int valueBytes) {

	static Load backlog(int partitions, int records) {
		return new Load(true, partitions, records, false, 0, 0, 100);
	}

	Load withoutBroker() {
		return new Load(false, this.partitions, this.backlog, this.hot, this.rate, this.paced, this.valueBytes);
	}

	Load paced(int perSecond, int seconds) {
		return new Load(this.broker, this.partitions, this.backlog, this.hot, perSecond, perSecond * seconds,
				this.valueBytes);
	}

	Load onHotPartition() {
		return new Load(this.broker, this.partitions, this.backlog, true, this.rate, this.paced, this.valueBytes);
	}

	Load ofBytes(int size) {
		return new Load(this.broker, this.partitions, this.backlog, this.hot, this.rate, this.paced, size);
	}

	Load times(double factor) {
		return new Load(this.broker, this.partitions,
				(int) Math.max(Math.min(500, this.backlog), this.backlog * factor), this.hot, this.rate,
				(int) (this.paced * factor), this.valueBytes);
	}

	int records() {
		return this.backlog + this.paced;
	}

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
