/**
 * Finds the records that hold a partition's watermark and moves them aside.
 */
@NullMarked
package io.queuestarter.blockage;

import org.jspecify.annotations.NullMarked;
