package io.queuestarter.observe;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.DelegatingMessageListener;
import org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.handler.AttemptObserver;

/**
 * Makes an {@link Observation} of each attempt, unless nobody handles observations.
 * <em>Thread-safe.</em>
 */
public final class QueueObserver implements AttemptObserver {

	private static final QueueObservationConvention DEFAULT = new DefaultQueueObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable QueueObservationConvention convention;

	/**
	 * Creates an observer.
	 * @param registry knows who handles observations
	 * @param convention the user's names and key values, or {@code null}
	 */
	public QueueObserver(ObservationRegistry registry, @Nullable QueueObservationConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	/**
	 * Spring Kafka's adapter ends whatever observation is current when the method
	 * returns, which is too early for ours. So it is shown none.
	 */
	@Override
	public void prepare(Object listener) {
		Object target = listener;
		while (target instanceof DelegatingMessageListener<?> delegating) {
			target = delegating.getDelegate();
		}
		if (target instanceof MessagingMessageListenerAdapter<?, ?> adapter) {
			adapter.setObservationRegistry(new NoCurrentObservation());
		}
	}

	@Override
	public @Nullable Observed begin(String queue, String group, Attempt attempt) {
		if (this.registry.isNoop()) {
			return null;
		}
		QueueObservationContext context = new QueueObservationContext(queue, group, attempt, attempt.record());
		Observation observation = Observation.createNotStarted(this.convention, DEFAULT, () -> context, this.registry);
		if (observation.isNoop()) {
			return null;
		}
		observation.start();
		return new Running(this.registry, observation, context);
	}

	private static final class NoCurrentObservation implements ObservationRegistry {

		private final ObservationConfig config = new ObservationConfig();

		@Override
		public @Nullable Observation getCurrentObservation() {
			return null;
		}

		@Override
		public Observation.@Nullable Scope getCurrentObservationScope() {
			return null;
		}

		@Override
		public void setCurrentObservationScope(Observation.@Nullable Scope current) {
		}

		@Override
		public ObservationConfig observationConfig() {
			return this.config;
		}

		@Override
		public boolean isNoop() {
			return true;
		}

	}

	/**
	 * The scope of an observation whose handlers throw stays open otherwise, and the next
	 * record of the thread would be a part of this one.
	 */
	private static final class Running implements Observed {

		private final ObservationRegistry registry;

		private final Observation observation;

		private final QueueObservationContext context;

		/** Worker thread only: what the thread had before. */
		private Observation.@Nullable Scope before;

		/** Worker thread only. */
		private Observation.@Nullable Scope scope;

		Running(ObservationRegistry registry, Observation observation, QueueObservationContext context) {
			this.registry = registry;
			this.observation = observation;
			this.context = context;
		}

		@Override
		public void enter() {
			this.before = this.registry.getCurrentObservationScope();
			try {
				this.scope = this.observation.openScope();
			}
			catch (Throwable ex) {
				Observation.Scope opened = this.registry.getCurrentObservationScope();
				this.scope = (opened != this.before) ? opened : null;
				throw ex;
			}
		}

		@Override
		public void leave() {
			if (this.scope == null) {
				return;
			}
			try {
				this.scope.close();
			}
			finally {
				this.registry.setCurrentObservationScope(this.before);
			}
		}

		@Override
		public void end(AttemptOutcome outcome, @Nullable Throwable error) {
			this.context.concluded(outcome);
			if (error != null) {
				this.observation.error(error);
			}
			this.observation.stop();
		}

	}

}
