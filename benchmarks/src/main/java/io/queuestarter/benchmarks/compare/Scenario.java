package io.queuestarter.benchmarks.compare;

import java.util.Set;

/**
 * What all arms do in turn.
 *
 * @param name short name
 * @param title what it is about
 * @param load its records
 * @param handlers its handlers
 * @param inFlight records handled at one time, for arms that handle more than one
 * @param window records of a partition from the first unsettled one on, for arms that
 * bound it
 * @param idle whether the processor time without records is measured afterwards
 * @param arms names of the arms that make sense
 */
record Scenario(String name, String title, Load load, Handlers handlers, int inFlight, int window, boolean idle,
		Set<String> arms) {

	/**
	 * Records a second that are possible without failures; infinite if handlers do not
	 * wait.
	 */
	double possible() {
		double possible = this.inFlight / this.handlers.meanSeconds() * this.handlers.soundShare();
		return (this.load.rate() > 0 && !this.load.hot()) ? this.load.rate() : possible;
	}

	Scenario withoutIdle() {
		return new Scenario(this.name, this.title, this.load, this.handlers, this.inFlight, this.window, false,
				this.arms);
	}

	Scenario times(double factor) {
		return new Scenario(this.name, this.title, this.load.times(factor), this.handlers, this.inFlight, this.window,
				this.idle, this.arms);
	}

}
