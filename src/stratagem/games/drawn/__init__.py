"""Games drawn on demand: their description, their trees and what they are worth."""
