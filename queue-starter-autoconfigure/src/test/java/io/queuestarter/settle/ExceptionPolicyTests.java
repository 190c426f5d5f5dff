package io.queuestarter.settle;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ExceptionPolicyTests {

	private static final IOException IO = new IOException("down");

	private static final IllegalStateException STATE = new IllegalStateException("wrong");

	@Test
	void withoutTypesEverythingIsRetryable() {
		assertThat(ExceptionPolicy.RETRY_ALL.isRetryable(new AssertionError())).isTrue();
	}

	@Test
	void dlqForCoversSubclassesAndNothingElse() {
		ExceptionPolicy policy = new ExceptionPolicy(List.of(), List.of(SocketException.class));

		assertThat(policy.isRetryable(new SocketException("reset"))).isFalse();
		assertThat(policy.isRetryable(new ConnectException("refused"))).isFalse();
		assertThat(policy.isRetryable(IO)).isTrue();
	}

	@Test
	void retryForLeavesNothingElseRetryable() {
		ExceptionPolicy policy = new ExceptionPolicy(List.of(IOException.class), List.of());

		assertThat(policy.isRetryable(new ConnectException("refused"))).isTrue();
		assertThat(policy.isRetryable(STATE)).isFalse();
		assertThat(policy.isRetryable(new StackOverflowError())).isFalse();
	}

	@Test
	void causesCountLikeTheExceptionItself() {
		ExceptionPolicy retry = new ExceptionPolicy(List.of(IOException.class), List.of());
		ExceptionPolicy dlq = new ExceptionPolicy(List.of(), List.of(IOException.class));
		Exception error = new RuntimeException(new UncheckedIOException(new ConnectException("refused")));

		assertThat(retry.isRetryable(error)).isTrue();
		assertThat(dlq.isRetryable(error)).isFalse();
	}

	@Test
	void closerTypeDecides() {
		ExceptionPolicy connect = new ExceptionPolicy(List.of(ConnectException.class), List.of(IOException.class));
		ExceptionPolicy io = new ExceptionPolicy(List.of(IOException.class), List.of(ConnectException.class));

		assertThat(connect.isRetryable(new ConnectException("refused"))).isTrue();
		assertThat(connect.isRetryable(new FileNotFoundException("gone"))).isFalse();
		assertThat(io.isRetryable(new ConnectException("refused"))).isFalse();
		assertThat(io.isRetryable(new FileNotFoundException("gone"))).isTrue();
	}

	@Test
	void closerTypeDecidesAlsoDeepInTheCauses() {
		ExceptionPolicy policy = new ExceptionPolicy(List.of(RuntimeException.class), List.of(IOException.class));

		assertThat(policy.isRetryable(new IllegalStateException(IO))).isFalse();
		assertThat(policy.isRetryable(new RuntimeException(new ConnectException("refused")))).isTrue();
	}

	@Test
	void equallyCloseTypesDeadLetter() {
		ExceptionPolicy same = new ExceptionPolicy(List.of(IOException.class), List.of(IOException.class));
		ExceptionPolicy two = new ExceptionPolicy(List.of(IllegalStateException.class), List.of(IOException.class));

		assertThat(same.isRetryable(IO)).isFalse();
		assertThat(two.isRetryable(new IllegalStateException(IO))).isFalse();
	}

	@Test
	void exceptionThatMatchesNeitherIsRetryableOnlyWithoutRetryFor() {
		assertThat(new ExceptionPolicy(List.of(), List.of(IOException.class)).isRetryable(STATE)).isTrue();
		assertThat(
				new ExceptionPolicy(List.of(SocketException.class), List.of(ConnectException.class)).isRetryable(STATE))
			.isFalse();
	}

	@Test
	void circleOfCausesEnds() {
		IllegalStateException outer = new IllegalStateException("outer");
		IllegalArgumentException inner = new IllegalArgumentException("inner", outer);
		outer.initCause(inner);
		ExceptionPolicy policy = new ExceptionPolicy(List.of(), List.of(IllegalArgumentException.class));

		assertThat(policy.isRetryable(outer)).isFalse();
		assertThat(policy.isRetryable(new RuntimeException("", STATE))).isTrue();
	}

	@Test
	void exceptionThatDoesNotTellItsCauseIsJudgedByItself() {
		ExceptionPolicy policy = new ExceptionPolicy(List.of(), List.of(Silent.class));

		assertThat(policy.isRetryable(new Silent())).isFalse();
	}

	static final class Silent extends RuntimeException {

		private static final long serialVersionUID = 1L;

		@Override
		public synchronized Throwable getCause() {
			throw new UnsupportedOperationException("no cause");
		}

	}

}
