package io.queuestarter.benchmarks.compare;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * What this process has spent so far.
 *
 * @param nanos the time
 * @param cpuNanos processor time of all threads, also of the collector and the compiler
 * @param bytes bytes allocated by all threads; before Java 21 by those that live, so that
 * a difference is right as long as no thread ends in between
 */
record Cost(long nanos, long cpuNanos, long bytes) {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

	private static final @Nullable MethodHandle TOTAL = total();

	/** Of Java 21. */
	private static @Nullable MethodHandle total() {
		try {
			return MethodHandles.publicLookup()
				.findVirtual(ThreadMXBean.class, "getTotalThreadAllocatedBytes", MethodType.methodType(long.class));
		}
		catch (ReflectiveOperationException ex) {
			return null;
		}
	}

	static Cost now() {
		return new Cost(System.nanoTime(), SYSTEM.getProcessCpuTime(), allocated());
	}

	private static long allocated() {
		MethodHandle total = TOTAL;
		if (total != null) {
			try {
				return (long) total.invokeExact(THREADS);
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}
		long sum = 0;
		for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) {
			sum += Math.max(0, bytes);
		}
		return sum;
	}

}
