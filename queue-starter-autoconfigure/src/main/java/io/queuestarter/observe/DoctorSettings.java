package io.queuestarter.observe;

import java.time.Duration;

/**
 * When the doctor looks, and what is too long.
 *
 * @param interval time between two looks
 * @param retentionShare share of the topic's retention at whose age an unsettled record
 * is a finding, above 0 and at most 1
 * @param commitsFailing time without a successful commit, while commits fail, that is a
 * finding
 * @param watermarkStuck time without progress, while there is lag, that is a finding
 */
public record DoctorSettings(Duration interval, double retentionShare, Duration commitsFailing,
		Duration watermarkStuck) {

}
