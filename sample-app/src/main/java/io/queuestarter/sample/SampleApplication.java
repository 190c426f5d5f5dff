package io.queuestarter.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Tells the billing story on the console, then goes on billing. With {@code --once} it
 * ends after the story; with {@code --outage} it has Visa break down instead, with
 * {@code --lanes} a test build. The exit code is 0 if it came out as it should.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class SampleApplication {

	private static final Logger LOGGER = LoggerFactory.getLogger(SampleApplication.class);

	public static void main(String[] args) {
		SpringApplication application = new SpringApplication(SampleApplication.class);
		boolean lanes = new DefaultApplicationArguments(args).containsOption("lanes");
		if (lanes) {
			application.setAdditionalProfiles("lanes");
		}
		ConfigurableApplicationContext context = application.run(args);
		try {
			if (context.getEnvironment().containsProperty("outage")) {
				exit(context, context.getBean(OutageStory.class).tell().good() ? 0 : 1);
			}
			if (lanes) {
				exit(context, context.getBean(LanesStory.class).tell().good() ? 0 : 1);
			}
			boolean good = context.getBean(Story.class).tell().good();
			if (context.getEnvironment().containsProperty("once")) {
				exit(context, good ? 0 : 1);
			}
			context.getBean(Epilogue.class).begin();
		}
		catch (Exception ex) {
			// Ctrl+C closes the context under the story's feet
			if (context.isActive()) {
				LOGGER.error("The story could not be told to its end", ex);
				exit(context, 1);
			}
		}
	}

	private static void exit(ConfigurableApplicationContext context, int code) {
		System.exit(SpringApplication.exit(context, () -> code));
	}

}
