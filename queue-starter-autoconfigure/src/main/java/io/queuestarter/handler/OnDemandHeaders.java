package io.queuestarter.handler;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHeaders;

/**
 * Headers of a message that are made when they are first read. <em>Thread-safe.</em>
 */
final class OnDemandHeaders extends MessageHeaders {

	private static final long serialVersionUID = 1L;

	private static final Long NO_TIMESTAMP = -1L;

	private final transient Supplier<MessageHeaders> source;

	/** Volatile; two threads that are first at one time make the same twice. */
	private transient volatile @Nullable MessageHeaders made;

	OnDemandHeaders(Supplier<MessageHeaders> source) {
		super(null, ID_VALUE_NONE, NO_TIMESTAMP);
		this.source = source;
	}

	private MessageHeaders made() {
		MessageHeaders headers = this.made;
		if (headers == null) {
			headers = this.source.get();
			this.made = headers;
		}
		return headers;
	}

	@Override
	protected Map<String, Object> getRawHeaders() {
		return made();
	}

	@Override
	public @Nullable Object get(Object key) {
		return made().get(key);
	}

	@Override
	public <T> @Nullable T get(Object key, Class<T> type) {
		return made().get(key, type);
	}

	@Override
	public boolean containsKey(Object key) {
		return made().containsKey(key);
	}

	@Override
	public boolean containsValue(Object value) {
		return made().containsValue(value);
	}

	@Override
	public Set<Map.Entry<String, Object>> entrySet() {
		return made().entrySet();
	}

	@Override
	public Set<String> keySet() {
		return made().keySet();
	}

	@Override
	public Collection<Object> values() {
		return made().values();
	}

	@Override
	public int size() {
		return made().size();
	}

	@Override
	public boolean isEmpty() {
		return made().isEmpty();
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return made().equals((other instanceof OnDemandHeaders headers) ? headers.made() : other);
	}

	@Override
	public int hashCode() {
		return made().hashCode();
	}

	@Override
	public String toString() {
		return made().toString();
	}

	/** Serialized are headers like others. */
	private Object writeReplace() {
		return made();
	}

}
