/**
 * Tells an outage of what handlers depend on from a record that cannot be handled.
 */
@NullMarked
package io.queuestarter.outage;

import org.jspecify.annotations.NullMarked;
