/**
 * Settlement state of one partition: what is settled, the watermark, and the settled set
 * that travels in the commit metadata. Pure Java.
 */
@NullMarked
package io.queuestarter.ledger;

import org.jspecify.annotations.NullMarked;
