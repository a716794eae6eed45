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
 * Returns why a card of the own hand cannot be played now; empty if it can, or if nothing can be played from the hand.
 * @param {Scene} scene
 * @param {number} seat
 * @param {string} name name of the card
 */
export function refusal({ seats = [], trick = [] }, seat, name) {
  const held = seats[seat]?.cards ?? [];
  const legal = held.filter(isLegal);
  const card = held.find((each) => each.name === name);
  if (!card || isLegal(card) || !legal.length) return "";
  const led = trick[0]?.card.sign;
  const mustFollow = led && card.sign !== led && legal.every(({ sign }) => sign === led);
  return mustFollow ? `You hold ${led === "rocket" ? "rockets" : led}: follow suit.` : "This card cannot be played now.";
}

/**
 * Finds the card whose click takes an action; undefined if there is none.
 * @param {Scene} scene
 * @param {number} action
 */
export const findCard = (scene, action) => cardsOf(scene).find((card) => card.action === action);
