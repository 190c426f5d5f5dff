package io.queuestarter.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import io.queuestarter.browse.Spelling;

/**
 * Prints which key below {@code kafka-queue} does not exist, and which one was meant.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownQueuePropertyFailureAnalyzer
		extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	/** A key below the name of a lane. */
	private static final Pattern LANE = Pattern.compile("lanes\\.named\\.(?:\\[[^]]*]|[^.]+)\\.(.+)");

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("kafka-queue");

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
		for (ConfigurationProperty property : cause.getUnboundProperties()) {
			if (PREFIX.isAncestorOf(property.getName())) {
				return analyze(property, cause);
			}
		}
		return null;
	}

	private static FailureAnalysis analyze(ConfigurationProperty property, Throwable cause) {
		String key = keyOf(property.getName());
		Matcher ofLane = LANE.matcher(key);
		Collection<String> known = new TreeSet<>();
		collect("", ofLane.matches() ? QueueProperties.Lane.class : QueueProperties.class, known);
		return new FailureAnalysis(
				property.getName() + " is set to '" + property.getValue() + "' (" + property.getOrigin()
						+ "), but there is no such setting" + (ofLane.matches() ? " of a lane." : "."),
				"Correct or remove it." + Spelling.suggestion(ofLane.matches() ? ofLane.group(1) : key, known)
						+ " Settings of a " + (ofLane.matches() ? "lane" : "queue") + " are: "
						+ String.join(", ", known)
						+ ". A queue id with other characters than letters, digits and '-' stands in brackets: "
						+ "\"[orders.v1]\".",
				cause);
	}

	/** What stands behind {@code defaults}, or behind {@code listeners} and the id. */
	private static String keyOf(ConfigurationPropertyName name) {
		boolean listener = name.getNumberOfElements() > 3
				&& name.getElement(1, ConfigurationPropertyName.Form.UNIFORM).equals("listeners");
		return name.subName(Math.min(listener ? 3 : 2, name.getNumberOfElements() - 1)).toString();
	}

	private static void collect(String path, Class<?> type, Collection<String> keys) {
		for (RecordComponent component : type.getRecordComponents()) {
			String key = path + DataObjectPropertyName.toDashedForm(component.getName());
			if (component.getType().isRecord()) {
				collect(key + ".", component.getType(), keys);
			}
			else {
				keys.add(key);
			}
		}
	}

}
