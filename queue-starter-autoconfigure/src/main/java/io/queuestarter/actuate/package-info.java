/**
 * Actuator endpoints.
 */
@NullMarked
package io.queuestarter.actuate;

import org.jspecify.annotations.NullMarked;
