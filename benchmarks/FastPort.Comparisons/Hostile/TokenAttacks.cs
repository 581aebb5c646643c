using System.Security.Cryptography;

namespace FastPort.Comparisons.Hostile;

/// <summary>Hellos of strangers who want to be somebody.</summary>
internal static class TokenAttacks
{
    private const int PasswordBytes = 12;

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        new PacedAttacker(
            "replayed-tokens", "tokens that have expired, or are for another service", 20, 10,
            (t, e) => TryAsync(t, t.Plan.ReplayedTokens, e)),
        new PacedAttacker(
            "forged-tokens", "no signature, another key's, another token's, a public key as secret", 40, 20,
            (t, e) => TryAsync(t, t.Plan.ForgedTokens, e)),
        new PacedAttacker("passwords", "guesses of a user's password, and of users that do not exist", 5, 10, GuessAsync),
        new PacedAttacker("no-token", "a request without Hello", 20, 10, WithoutHelloAsync),
    ];

    private static Task TryAsync(AttackTarget target, IReadOnlyList<string> tokens, CancellationToken ending) =>
        SayAsync(target, HostileFrames.HelloFrame("", tokens[RandomNumberGenerator.GetInt32(tokens.Count)]), ending);

    private static Task GuessAsync(AttackTarget target, CancellationToken ending)
    {
        string user = RandomNumberGenerator.GetInt32(2) == 0 ? HostileUsers.Guest : "nobody";
        string guess = Convert.ToHexString(RandomNumberGenerator.GetBytes(PasswordBytes));
        return SayAsync(target, HostileFrames.HelloFrame("", HostileTokens.Basic(user, guess)), ending);
    }

    private static Task WithoutHelloAsync(AttackTarget target, CancellationToken ending) =>
        SayAsync(target, HostileFrames.Frame(HostileFrames.Echo, 1), ending);

    private static async Task SayAsync(AttackTarget target, byte[] frame, CancellationToken ending)
    {
        using HostilePeer peer = await target.ConnectAsync(ending);
        await peer.SendAsync(frame, ending);
        HostileFrame answer = await peer.ReadFrameAsync(ending);
        if (!answer.IsError)
        {
            // Not a refusal that is counted: it ends the attackers with an error, which fails the run.
            throw new ComparisonException("The server has let somebody in who showed a wrong token.");
        }

        throw new IOException("It was refused.");
    }
}
