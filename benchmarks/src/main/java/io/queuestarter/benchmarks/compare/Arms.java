package io.queuestarter.benchmarks.compare;

import java.util.LinkedHashMap;
import java.util.Map;

import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;

/**
 * The arms by name.
 */
final class Arms {

	static final String RAW = "raw";

	static final String LISTENER = "listener";

	static final String PARALLEL = "parallel";

	static final String PARALLEL_DEFAULTS = "parallel-defaults";

	static final String PARALLEL_KEY = "parallel-key";

	static final String SHARE = "share";

	static final String QUEUE = "queue";

	static final String QUEUE_KEY = "queue-key";

	static final String ENGINE = "engine";

	private Arms() {
	}

	static Map<String, Arm> all(Cluster cluster) {
		Map<String, Arm> arms = new LinkedHashMap<>();
		arms.put(RAW, new RawLoop());
		arms.put(LISTENER, new ListenerArm());
		arms.put(PARALLEL, new ParallelArm(ProcessingOrder.UNORDERED, true));
		arms.put(PARALLEL_DEFAULTS, new ParallelArm(ProcessingOrder.UNORDERED, false));
		arms.put(PARALLEL_KEY, new ParallelArm(ProcessingOrder.KEY, true));
		arms.put(SHARE, new ShareArm(cluster));
		arms.put(QUEUE, new QueueArm("unordered"));
		arms.put(QUEUE_KEY, new QueueArm("key"));
		arms.put(ENGINE, new EngineArm());
		return arms;
	}

}
