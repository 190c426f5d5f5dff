package io.queuestarter.sample;

/**
 * A provider failed; the next call may succeed.
 */
class ProviderException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ProviderException(Card card) {
		super(card.label() + " does not answer");
	}

}
