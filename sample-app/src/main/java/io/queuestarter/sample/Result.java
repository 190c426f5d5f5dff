package io.queuestarter.sample;

import java.time.Duration;

/**
 * What an act came to while Visa was slow.
 *
 * @param design the listener
 * @param perSecond charges a second
 * @param visa wait that 95 of 100 Visa trips did not exceed; if none was charged, the
 * act's length
 * @param mastercard the same of Mastercard
 * @param waiting trips that waited at the end
 * @param freeze longest time the commit stood still although trips were charged
 * @param above most trips that were charged and not covered by the commit
 * @param passed whether the straggler's offset was committed at the end
 */
record Result(Design design, double perSecond, Duration visa, Duration mastercard, int waiting, Duration freeze,
		long above, boolean passed) {

}
