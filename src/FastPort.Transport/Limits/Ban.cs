using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Text;
using FastPort.Connections;

namespace FastPort;

/// <summary>An address, network or identity that may not connect for a limited time.</summary>
public sealed record Ban
{
    /// <summary>The prefix of a subject that is an identity.</summary>
    public const string UserPrefix = "user:";

    /// <summary>Creates a ban.</summary>
    /// <param name="subject">
    /// The banned address (<c>10.0.0.7</c>), network (<c>10.0.0.0/8</c>, <c>2001:db8:1:2::/64</c>) or identity (<c>user:anna</c>).
    /// </param>
    /// <param name="until">When it ends.</param>
    /// <param name="reason">A sentence for the log, without line breaks; not sent to the peer. Defaults to none.</param>
    /// <exception cref="ArgumentException">The subject or the reason is not valid.</exception>
    public Ban(string subject, DateTimeOffset until, string reason = "")
    {
        ArgumentNullException.ThrowIfNull(reason);
        if (!TryParse(subject, out string? user, out IPNetwork network))
        {
            throw new ArgumentException($"'{subject}' cannot be banned; {Allowed}.", nameof(subject));
        }

        if (!IsPlain(reason))
        {
            throw new ArgumentException("The reason of a ban contains a character of category Cc, Cf, Zl or Zp.", nameof(reason));
        }

        (User, Network, Until, Reason) = (user, network, until, reason);
        Subject = user is null ? AddressNetworks.Show(network) : UserPrefix + user;
    }

    /// <summary>The banned address, network or identity, in its canonical form.</summary>
    public string Subject { get; }

    /// <summary>When the ban ends.</summary>
    public DateTimeOffset Until { get; }

    /// <summary>Why; may be empty.</summary>
    public string Reason { get; }

    internal const string Allowed =
        "allowed: addresses such as 10.0.0.7, networks such as 10.0.0.0/8, and identities such as user:anna";

    /// <summary>The sentence for the peer.</summary>
    internal string Notice => $"{Subject} is banned until {Until.UtcDateTime:yyyy-MM-dd'T'HH:mm:ss'Z'}.";

    /// <summary>The banned identity; null for addresses.</summary>
    internal string? User { get; }

    /// <summary>The banned addresses, if <see cref="User"/> is null.</summary>
    internal IPNetwork Network { get; }

    /// <summary>The subject that matches this peer: its address, for IPv6 its /64 network. Null for peers without an IP address.</summary>
    /// <param name="peer">The peer's address.</param>
    public static string? SubjectOf(EndPoint? peer) =>
        AddressNetworks.CountedAs(peer) is { } network ? AddressNetworks.Show(network) : null;

    /// <summary>Whether this address is banned.</summary>
    internal bool Bans(EndPoint? peer) => User is null && AddressNetworks.Contains(Network, peer);

    /// <summary>A sentence for the log: who is banned, until when (UTC), and the reason if there is one.</summary>
    public override string ToString() =>
        $"{Subject} is banned until {Until.UtcDateTime:yyyy-MM-dd'T'HH:mm:ss'Z'}{(Reason.Length == 0 ? string.Empty : $": {Reason}")}";

    // Both appear in log lines.
    private static bool IsPlain(string text) => text.EnumerateRunes().All(static rune => Rune.GetUnicodeCategory(rune)
        is not (UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator));

    private static bool TryParse([NotNullWhen(true)] string? subject, out string? user, out IPNetwork network)
    {
        (user, network) = (null, default);
        if (subject is null)
        {
            return false;
        }

        if (subject.StartsWith(UserPrefix, StringComparison.Ordinal))
        {
            user = subject[UserPrefix.Length..];
            return user.Length != 0 && IsPlain(user);
        }

        if (AddressNetworks.TryParse(subject) is not { } parsed)
        {
            return false;
        }

        network = parsed;
        return true;
    }
}
