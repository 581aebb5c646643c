using System.Collections.Concurrent;

namespace FastPort.Redis.Directory;

/// <summary>
/// Takes the claims of a table one after the other, again and again, so many in each turn that a round takes a given number of turns. For
/// one thread at a time, while others change the table: a claim that comes in behind the walk is taken in the next round.
/// </summary>
internal sealed class ClaimWalk(ConcurrentDictionary<byte[], OwnClaim> claims, int turnsOfRound)
{
    private IEnumerator<KeyValuePair<byte[], OwnClaim>>? _round;
    private double _due;

    /// <summary>The claims of the next turn; none in some turns of a small table.</summary>
    public List<OwnClaim> NextTurn()
    {
        _round ??= claims.GetEnumerator();
        List<OwnClaim> some = [];
        for (_due += (double)claims.Count / turnsOfRound; _due >= 1; _due--)
        {
            if (!_round.MoveNext())
            {
                _round.Dispose();
                _round = null;
                break;
            }

            some.Add(_round.Current.Value);
        }

        return some;
    }
}
