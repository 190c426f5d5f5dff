package io.queuestarter.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.queuestarter.QueueConfigurationException;

/**
 * Prints what is wrong with the configuration of a queue, and what to do.
 */
final class QueueConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<QueueConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, QueueConfigurationException cause) {
		return new FailureAnalysis(cause.getDescription(), cause.getAction(), cause);
	}

}
