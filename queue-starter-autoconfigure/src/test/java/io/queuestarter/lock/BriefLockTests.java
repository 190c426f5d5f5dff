package io.queuestarter.lock;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BriefLock}.
 */
@Tag("threads")
class BriefLockTests {

	private final BriefLock lock = new BriefLock();

	private int count;

	@Test
	void oneThreadAtATimeIsInTheSection() throws InterruptedException {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		for (int thread = 0; thread < 4; thread++) {
			threads.execute(() -> {
				for (int i = 0; i < 100_000; i++) {
					this.lock.lock();
					try {
						this.count++;
					}
					finally {
						this.lock.unlock();
					}
				}
			});
		}
		threads.shutdown();

		assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
		assertThat(this.count).isEqualTo(400_000);
	}

	@Test
	void ownerThatStaysIsWaitedForUnlessOneCanDoWithout() throws InterruptedException {
		CountDownLatch owned = new CountDownLatch(1);
		CountDownLatch tried = new CountDownLatch(1);
		Thread owner = new Thread(() -> {
			this.lock.lock();
			owned.countDown();
			try {
				tried.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			finally {
				this.lock.unlock();
			}
		});
		owner.start();
		assertThat(owned.await(30, TimeUnit.SECONDS)).isTrue();

		assertThat(this.lock.tryBriefly()).isFalse();

		Thread waiting = new Thread(() -> {
			this.lock.lock();
			this.lock.lock();
			this.lock.unlock();
			this.lock.unlock();
		});
		waiting.start();
		Awaitility.await().until(() -> this.lock.hasQueuedThread(waiting));
		tried.countDown();
		owner.join();
		waiting.join();
		assertThat(this.lock.tryBriefly()).isTrue();
	}

}
