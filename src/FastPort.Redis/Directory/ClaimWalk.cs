using System.Collections.Concurrent;

namespace FastPort.Redis.Directory;

/// <summary>
/// Walks over the claims of a table in repeated rounds, with as many claims per turn that a round takes a given number of turns. For one
/// thread at a time, while others change the table: a claim added behind the walk is visited in the next round.
/// </summary>
internal sealed class ClaimWalk(ConcurrentDictionary<byte[], OwnId> claims, int turnsOfRound)
{
    private IEnumerator<KeyValuePair<byte[], OwnId>>? _round;
    private double _due;

    /// <summary>The claims of the next turn; none in some turns of a small table.</summary>
    /// <param name="most">How many at most: rounds of a large table take more turns then.</param>
    public List<OwnId> NextTurn(double most = double.PositiveInfinity)
    {
        _round ??= claims.GetEnumerator();
        List<OwnId> some = [];
        _due += Math.Min((double)claims.Count / turnsOfRound, most);
        while (_due >= 1)
        {
            if (!_round.MoveNext())
            {
                _round.Dispose();
                _round = null;
                break;
            }

            // A table that has grown is walked as it was: ids that have been removed since are not part of the walk.
            if (!_round.Current.Value.IsGone)
            {
                some.Add(_round.Current.Value);
                _due--;
            }
        }

        return some;
    }
}
