package io.queuestarter.intake;

/**
 * Bounds of what a queue holds.
 *
 * @param window largest number of records of one partition from the watermark on
 * @param records largest number of records that wait for a worker, over all partitions
 * @param bytes largest number of bytes of unsettled records, over all partitions
 * @param partitionRecords largest number of records of one partition that wait for a
 * worker
 * @param partitionBytes largest number of bytes of unsettled records of one partition
 */
public record IntakeLimits(int window, int records, long bytes, int partitionRecords, long partitionBytes) {

}
