package io.queuestarter.browse;

/**
 * Log of a partition, and what of it is resolved.
 *
 * @param span what the log holds
 * @param resolved what is resolved
 */
record LetterLog(LogSpan span, Resolved resolved) {

	long depth() {
		return this.resolved.unresolved(this.span.start(), this.span.end());
	}

	/** Lowest offset that is not resolved, at most the end. */
	long first() {
		return this.resolved.next(this.span.start());
	}

	/** Offset from which on the newest unresolved record is found, most of the time. */
	long tail(int records) {
		return Math.max(first(), this.resolved.previous(this.span.end() - 1) - records + 1);
	}

}
