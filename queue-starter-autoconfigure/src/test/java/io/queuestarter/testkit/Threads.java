package io.queuestarter.testkit;

import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

import org.junit.jupiter.api.Named;

/**
 * Kinds of threads to repeat a test on: platform threads, and virtual ones if the runtime
 * has them.
 */
public final class Threads {

	private Threads() {
	}

	public static Stream<Named<ThreadFactory>> kinds() {
		Named<ThreadFactory> platform = Named.of("platform", Executors.defaultThreadFactory());
		try {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			ThreadFactory virtual = (ThreadFactory) Class.forName("java.lang.Thread$Builder")
				.getMethod("factory")
				.invoke(builder);
			return Stream.of(platform, Named.of("virtual", virtual));
		}
		catch (ReflectiveOperationException ex) {
			return Stream.of(platform);
		}
	}

}
