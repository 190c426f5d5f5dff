/**
 * Auto-configuration and configuration properties.
 */
@NullMarked
package io.queuestarter.autoconfigure;

import org.jspecify.annotations.NullMarked;
