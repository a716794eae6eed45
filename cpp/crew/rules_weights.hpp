// Weights of `rules`. They were guessed, then changed one at a time as long as four copies of the player succeeded more
// often over the missions of the logbook. Each change was tested on new deals. A failed mission has value -1, a mission
// that continues 0.
#pragma once

namespace trickformer::crew {

// Prediction of the rest of a trick.
constexpr double kTogether = 0.85;  // probability that another seat plays the card that is better for the crew
constexpr double kGives = 0.88;     // probability that the holder of a wanted card adds it

// Progress towards success.
constexpr double kSuccess = 1;
constexpr double kTask = 0.625, kTaskLater = 0.075;  // value of a task, and its increase for each trick played
constexpr double kRocketWon = 0.75, kOneWon = 0.5, kNineGone = 0.15, kPinkWon = 0.06, kMemberWon = 0.3;

// Values of cards in the hand. `High`: multiplied by their value, 1 for a 9.
constexpr double kRocketHigh = 0.7, kHigh = 0.02;
constexpr double kOwnTask = 0.05, kAboveMine = 0.12, kBelowMine = 0.02, kVoidForMine = 0.05;
constexpr double kAboveTheirs = 0.08, kBelowTheirs = 0.02;
constexpr double kRocketMine = 0.112, kRocketTheirs = 0.006, kRocketLed = 0.125;
constexpr double kSickHigh = 0.2, kWellHigh = 0.03;
constexpr double kLastCard = 0.4, kLastOther = 0.1;
constexpr double kOne = 0.24, kOneColour = 0.04, kOneRocket = 0.05;
constexpr double kNineRocket = 0.1;
constexpr double kRocketRocket = 0.05, kShorten = 0.05;
constexpr double kPinkHigh = 0.1, kPinkOther = 0.05;
constexpr double kRolesFirst = 0.05, kRolesDump = 0.1, kRolesBetween = 0.08, kRolesLate = 0.02;

// Statements: the estimated probability to take a task, from the hand, and the thresholds for an answer.
constexpr double kTakeLeast = 0.1;
constexpr double kTakeHeld = 0.97, kTakeHeldOver = 0.325, kTakeHeldUnder = 0.02;  // the task card itself is held
constexpr double kTakeAbove = 0.95, kTakeBelow = 0.25, kTakeOver = 0.12, kTakeLength = 0.01;
constexpr double kTakeRuff = 0.48, kTakeRuffLength = 0.18, kTakeRockets = 0.05, kTakeHighRocket = 0.02;
constexpr double kTakeNines = 0.02;
constexpr double kYesAt = 0.6, kTakeYes = 0.85, kTakeNo = 0.3, kTakeShare = 0.1;
constexpr double kStrong = 2.5;  // threshold for taking all tasks
constexpr double kSpeak = 0.45;

}  // namespace trickformer::crew
