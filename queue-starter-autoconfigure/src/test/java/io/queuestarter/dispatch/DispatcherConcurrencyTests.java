package io.queuestarter.dispatch;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The dispatcher under many threads.
 */
@Tag("threads")
@Timeout(120)
class DispatcherConcurrencyTests {

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void everyTaskRunsOnceWithinTheLimit(ThreadFactory threads) throws Exception {
		SplittableRandom random = Seeds.random("DispatcherConcurrencyTests");
		for (int limit : new int[] { 1, 3, 16 }) {
			new Run(threads, random.split(), limit, 20_000, 0).run();
		}
	}

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void noWakeUpIsLostInShortRaces(ThreadFactory threads) throws Exception {
		SplittableRandom random = Seeds.random("DispatcherConcurrencyTests");
		for (int round = 0; round < 2_000; round++) {
			new Run(threads, random.split(), 1 + random.nextInt(3), 1 + random.nextInt(12), 0).run();
		}
	}

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void executorThatThrowsNowAndThenLosesNoTask(ThreadFactory threads) throws Exception {
		SplittableRandom random = Seeds.random("DispatcherConcurrencyTests");
		for (int round = 0; round < 20; round++) {
			new Run(threads, random.split(), 1 + random.nextInt(4), 500, 30).run();
		}
	}

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void slowTasksRunAllAtOneTime(ThreadFactory threads) throws Exception {
		CountDownLatch together = new CountDownLatch(100);
		CountDownLatch done = new CountDownLatch(100);
		Dispatcher<Integer> dispatcher = new Dispatcher<>(100, 0, (worker) -> threads.newThread(worker).start(),
				(task, slot) -> {
					together.countDown();
					awaitQuietly(together);
					done.countDown();
					return true;
				}, () -> {
				});

		dispatcher.submit(dispatcher.open(0), IntStream.range(0, 100).boxed().toList());

		assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
		await().until(() -> dispatcher.inFlight() == 0);
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await(30, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static final class Run {

		private static final int SUBMITTERS = 3;

		private final SplittableRandom random;

		private final int limit;

		private final int tasks;

		private final int rejectPercent;

		private final AtomicIntegerArray runs;

		private final AtomicInteger running = new AtomicInteger();

		private final AtomicInteger most = new AtomicInteger();

		private final AtomicInteger calls = new AtomicInteger();

		private final CountDownLatch done;

		private final LinkedBlockingQueue<Integer> detached = new LinkedBlockingQueue<>();

		private final Dispatcher<Integer> dispatcher;

		private final List<TaskQueue<Integer>> queues = new ArrayList<>();

		private final ThreadFactory threads;

		private volatile boolean rejecting;

		private final ExecutorService pool;

		Run(ThreadFactory threads, SplittableRandom random, int limit, int tasks, int rejectPercent) {
			this.threads = threads;
			this.random = random;
			this.limit = limit;
			this.tasks = tasks;
			this.rejectPercent = rejectPercent;
			this.rejecting = rejectPercent > 0;
			this.runs = new AtomicIntegerArray(tasks);
			this.done = new CountDownLatch(tasks);
			this.pool = new ThreadPoolExecutor(limit, limit, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
			Executor workers = (worker) -> {
				if (this.rejecting && Math.floorMod(this.calls.incrementAndGet() * 37, 100) < this.rejectPercent) {
					throw new RejectedExecutionException();
				}
				this.pool.execute(worker);
			};
			this.dispatcher = new Dispatcher<>(limit, 2, workers, this::runTask, () -> {
			});
			for (int i = 0; i < 3; i++) {
				this.queues.add(this.dispatcher.open(1));
			}
			this.queues.add(this.dispatcher.openAside(Integer.MAX_VALUE));
		}

		void run() throws Exception {
			List<Thread> helpers = new ArrayList<>();
			AtomicInteger next = new AtomicInteger();
			for (int i = 0; i < SUBMITTERS; i++) {
				SplittableRandom own = this.random.split();
				helpers.add(this.threads.newThread(() -> submitAll(next, own)));
			}
			Thread releaser = this.threads.newThread(this::releaseAll);
			helpers.add(releaser);
			helpers.forEach(Thread::start);
			try {
				for (Thread helper : helpers.subList(0, SUBMITTERS)) {
					helper.join(30_000);
				}
				if (this.rejecting) {
					this.rejecting = false;
					await().until(() -> {
						this.dispatcher.catchUp();
						return this.done.getCount() == 0;
					});
				}
				assertThat(this.done.await(20, TimeUnit.SECONDS)).as("%s tasks left", this.done.getCount()).isTrue();
				for (int task = 0; task < this.tasks; task++) {
					assertThat(this.runs.get(task)).isOne();
				}
				assertThat(this.most.get()).isLessThanOrEqualTo(this.limit);
				await().pollDelay(Duration.ZERO)
					.pollInterval(Duration.ofNanos(50_000))
					.until(() -> this.dispatcher.waiting() == 0 && this.dispatcher.inFlight() == 0);
			}
			finally {
				this.detached.add(-1);
				releaser.join(10_000);
				this.pool.shutdown();
			}
		}

		private void submitAll(AtomicInteger next, SplittableRandom own) {
			int count = 1 + own.nextInt(4);
			for (int first = next.getAndAdd(count); first < this.tasks; first = next.getAndAdd(count)) {
				List<Integer> batch = IntStream.range(first, Math.min(first + count, this.tasks)).boxed().toList();
				submit(this.queues.get(own.nextInt(this.queues.size())), batch);
				count = 1 + own.nextInt(4);
			}
		}

		private void submit(TaskQueue<Integer> queue, List<Integer> batch) {
			try {
				this.dispatcher.submit(queue, batch);
			}
			catch (RejectedExecutionException ex) {
				assertThat(this.rejectPercent).isPositive();
			}
		}

		private boolean runTask(int task, int slot) {
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			this.runs.incrementAndGet(task);
			if (task % 5 == 0) {
				this.detached.add(slot);
				this.done.countDown();
				return false;
			}
			this.running.decrementAndGet();
			this.done.countDown();
			return true;
		}

		private void releaseAll() {
			try {
				for (int slot = this.detached.take(); slot >= 0; slot = this.detached.take()) {
					this.running.decrementAndGet();
					try {
						this.dispatcher.release(slot);
					}
					catch (RejectedExecutionException ex) {
						assertThat(this.rejectPercent).isPositive();
					}
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
