// Questions about a scene: which items can be clicked, and what the actions are called.

/** @import { Card, Scene } from "../types/messages" */

/**
 * Tests whether a card, cell, rung or choice has an action that is legal now.
 * @template {{ action?: number | null }} Item
 * @param {Item} item
 * @returns {item is Item & { action: number }}
 */
export const isLegal = (item) => item.action !== undefined && item.action !== null;

/** @param {Scene} scene @returns {Card[]} */
const cardsOf = (scene) => [...(scene.seats ?? []), ...(scene.piles ?? [])].flatMap((part) => part.cards ?? []);

/**
 * Lists the cards that a seat holds in some scenes, or that lie in a pile.
 * @param {Scene[]} scenes
 */
export const cardsIn = (scenes) => scenes.flatMap(cardsOf);

/**
 * Maps each action that a scene offers to its words.
 * @param {Scene} scene
 */
export function actionWords(scene) {
  /** @type {Map<number, string>} */
  const words = new Map();
  for (const item of [...cardsOf(scene), ...(scene.board ?? []).flat(), ...(scene.choices ?? []), ...(scene.ladder ?? [])])
    if (isLegal(item)) words.set(item.action, item.words ?? "");
  for (const card of cardsOf(scene))
    for (const option of card.options ?? []) words.set(option.actions[0], `${option.words}${option.lights ? "" : ` ${card.words}`}`);
  return words;
}

/**
 * Finds the card whose click takes an action; undefined if there is none.
 * @param {Scene} scene
 * @param {number} action
 */
export const findCard = (scene, action) => cardsOf(scene).find((card) => card.action === action);
