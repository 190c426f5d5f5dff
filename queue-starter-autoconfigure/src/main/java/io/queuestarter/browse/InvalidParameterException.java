package io.queuestarter.browse;

import java.util.List;

import io.queuestarter.QueueException;

/**
 * Somebody asked for something that cannot be understood. Nothing was done.
 */
public final class InvalidParameterException extends QueueException {

	private static final long serialVersionUID = 1L;

	private final String parameter;

	private final String value;

	private final List<String> allowed;

	/**
	 * Creates an exception.
	 * @param parameter name of the parameter
	 * @param value what it was given
	 * @param allowed what may be given: values or forms
	 */
	public InvalidParameterException(String parameter, String value, List<String> allowed) {
		super("'" + parameter + "' is '" + value + "'; allowed: " + String.join(", ", allowed), null);
		this.parameter = parameter;
		this.value = value;
		this.allowed = List.copyOf(allowed);
	}

	InvalidParameterException(String parameter, String value, String... allowed) {
		this(parameter, value, List.of(allowed));
	}

	/**
	 * Name of the parameter.
	 * @return the name
	 */
	public String getParameter() {
		return this.parameter;
	}

	/**
	 * What it was given.
	 * @return the value
	 */
	public String getValue() {
		return this.value;
	}

	/**
	 * What may be given.
	 * @return values or forms
	 */
	public List<String> getAllowed() {
		return this.allowed;
	}

}
