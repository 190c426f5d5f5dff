package io.queuestarter.sample;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/**
 * The naive parallel listener: hands a batch to a thread pool, waits for all of it, and
 * has the batch committed. The pool is as large as the queue's limit.
 */
@Component
class ParallelListener implements DisposableBean {

	private final Billing billing;

	private final ExecutorService pool;

	ParallelListener(Billing billing,
			@Value("${kafka-queue.listeners.billing-queue.dispatch.max-in-flight}") int threads) {
		this.billing = billing;
		this.pool = Executors.newFixedThreadPool(threads);
	}

	@KafkaListener(id = "billing-parallel", topics = "trips-parallel", batch = "true", autoStartup = "false")
	void charge(List<Trip> trips) throws InterruptedException, ExecutionException {
		for (Future<Void> charge : this.pool.invokeAll(trips.stream().map(this::task).toList())) {
			charge.get();
		}
	}

	private Callable<Void> task(Trip trip) {
		return () -> {
			this.billing.charge(trip);
			return null;
		};
	}

	@Override
	public void destroy() {
		this.pool.shutdownNow();
	}

}
