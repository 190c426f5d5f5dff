package io.queuestarter.blockage;

import java.time.Duration;

/**
 * When a partition counts as blocked.
 *
 * @param enabled whether it ever does
 * @param load share of the window in use above which the partition may be blocked
 * @param acked share of the tracked records that are settled above which it is
 * @param holders number of unsettled records up to which it is, too, if they are at most
 * a tenth of the window
 * @param maxHeadAge age at which a record that holds the watermark blocks, whatever the
 * load
 * @param victims records moved aside at one look
 */
public record BlockageRule(boolean enabled, double load, double acked, int holders, Duration maxHeadAge, int victims) {

	/** Whether few records keep a window full of settled ones from moving on. */
	boolean isBlocked(int window, int tracked, int settled) {
		return tracked > settled && isBlockedBut(window, tracked, settled, 0);
	}

	/** The same if so many records that are not settled were not there. */
	boolean isBlockedBut(int window, int tracked, int settled, int apart) {
		int others = tracked - apart;
		int open = others - settled;
		boolean few = settled > this.acked * others || open <= Math.min(this.holders, window / 10);
		return tracked > this.load * window && few;
	}

}
