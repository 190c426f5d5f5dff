package io.queuestarter.testkit;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What a logger, and those below it, write while this is open. An application that starts
 * sets logging up anew: to be opened while it starts or afterwards. <em>Thread-safe.</em>
 */
public final class LogLines implements AutoCloseable {

	private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

	private final Logger logger;

	private final @Nullable Level levelBefore;

	private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

		@Override
		protected void append(ILoggingEvent event) {
			// It is that of the thread that asks first.
			event.getMDCPropertyMap();
			LogLines.this.events.add(event);
		}

	};

	private LogLines(Logger logger, Level level) {
		this.logger = logger;
		this.levelBefore = logger.getLevel();
		logger.setLevel(level);
		this.appender.setContext(logger.getLoggerContext());
		this.appender.start();
		logger.addAppender(this.appender);
	}

	/** Listens to a logger, which has the level meanwhile. */
	public static LogLines of(String logger, Level level) {
		return new LogLines((Logger) LoggerFactory.getLogger(logger), level);
	}

	/** Texts of the lines of a level. */
	public List<String> texts(Level level) {
		return this.events.stream()
			.filter((event) -> event.getLevel() == level)
			.map(ILoggingEvent::getFormattedMessage)
			.map(Objects::requireNonNull)
			.toList();
	}

	/** The MDC of each line that has a text in it. */
	public List<Map<String, String>> mdcOf(String text) {
		return this.events.stream()
			.filter((event) -> Objects.requireNonNull(event.getFormattedMessage()).contains(text))
			.map(ILoggingEvent::getMDCPropertyMap)
			.toList();
	}

	/** Number of lines of a level, or above, that carry a stack trace. */
	public long stacks(Level least) {
		return this.events.stream()
			.filter((event) -> event.getLevel().isGreaterOrEqual(least) && event.getThrowableProxy() != null)
			.count();
	}

	/** Texts of the lines of a level, or above. */
	public List<String> textsFrom(Level least) {
		return this.events.stream()
			.filter((event) -> event.getLevel().isGreaterOrEqual(least))
			.map((event) -> event.getLevel() + " " + event.getLoggerName() + ": " + event.getFormattedMessage())
			.toList();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this.appender);
		this.logger.setLevel(this.levelBefore);
	}

}
