package io.queuestarter.sample;

import java.util.ArrayList;
import java.util.List;

import org.springframework.stereotype.Component;

/**
 * The billing story, from the first act to the comparison.
 */
@Component
final class Story {

	private final Act act;

	private final PoisonAct poisonAct;

	private final Stage stage;

	private final Narrator narrator;

	Story(Act act, PoisonAct poisonAct, Stage stage, Narrator narrator) {
		this.act = act;
		this.poisonAct = poisonAct;
		this.stage = stage;
		this.narrator = narrator;
	}

	/** Tells the story; the queue and its traffic go on. */
	Ending tell() throws InterruptedException {
		this.narrator.open();
		List<Result> results = new ArrayList<>();
		for (Design design : Design.values()) {
			this.narrator.announce(design);
			Result result = this.act.play(design);
			results.add(result);
			this.narrator.conclude(results);
			if (design != Design.QUEUE) {
				this.stage.close(design);
			}
		}
		this.narrator.announcePoison();
		PoisonAct.Outcome poison = this.poisonAct.play();
		this.narrator.conclude(poison);
		Ending ending = new Ending(results, poison);
		this.narrator.compare(ending);
		return ending;
	}

	/**
	 * How the story came out.
	 *
	 * @param results one an act, in the order of {@link Design}
	 * @param poison what became of the poison pill
	 */
	record Ending(List<Result> results, PoisonAct.Outcome poison) {

		Result of(Design design) {
			return this.results.get(design.ordinal());
		}

		/** Whether it came out as it should. */
		boolean good() {
			return this.poison.passed() && this.poison.deadLetters() == 1
					&& of(Design.QUEUE).mastercard().compareTo(of(Design.NATIVE).mastercard()) < 0;
		}

	}

}
