using FastPort.Configuration;
using FastPort.Redis.Connecting;
using StackExchange.Redis;

namespace FastPort.Redis;

/// <summary>Options of a server that is a node in a group of servers; configuration section <c>FastPort:Backplane</c>.</summary>
public sealed class RedisBackplaneOptions : IDescribedOptions
{
    /// <summary>The configuration section.</summary>
    public const string SectionName = "FastPort:Backplane";

    /// <summary>
    /// The address of Redis, in the format of StackExchange.Redis: <c>host:6379,password=...,ssl=true</c>, several hosts of a cluster,
    /// Sentinels with <c>serviceName=...</c>, or <c>!</c> and the path of a Unix socket. Or a URL,
    /// <c>redis://user:password@host:6379</c>, <c>rediss://</c> for TLS; a password with a comma needs one, with <c>%2C</c> for the comma.
    /// Defaults to <c>127.0.0.1:6379</c>.
    /// </summary>
    public string Connection { get; set; } = "127.0.0.1:6379";

    /// <summary>
    /// First part of all keys and channels, which keeps several installations in one Redis apart; 1 to 64 characters, letters, digits and
    /// <c>-_.</c>. No colon: it ends the prefix, and keys of one installation could be those of another. Defaults to <c>fastport</c>.
    /// </summary>
    public string KeyPrefix { get; set; } = "fastport";

    /// <summary>
    /// This node's name, which no other node may have; 1 to 64 characters, letters, digits and <c>-_.:</c>. Defaults to the machine's name.
    /// </summary>
    public string Node { get; set; } = Environment.MachineName;

    /// <summary>
    /// The lease of a node at Redis. A node that does not renew it in this time counts as dead: its routing ids are free, and relays on
    /// their way to it are answered. Nodes renew it three times in this time. 1 s to 1 min; defaults to 5 s.
    /// </summary>
    public TimeSpan Lease { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Bytes of relays that may wait until Redis has located their targets; further relays are answered with Unavailable. The same number
    /// of bytes may wait for sessions of this node, a sixteenth of it for one session; further relays are answered with Overloaded. 1 MiB
    /// to 1 GiB; defaults to 64 MiB.
    /// </summary>
    public int QueueBytes { get; set; } = 64 * 1024 * 1024;

    /// <summary>Whether the node is ready, for a load balancer, only while it has its lease. Defaults to true.</summary>
    public bool RequireBackplane { get; set; } = true;

    void IDescribedOptions.Describe(OptionSection section)
    {
        Connection = section.Secret(nameof(Connection), Connection, WhatIsWrong) ?? Connection;
        KeyPrefix = section.Text(
            nameof(KeyPrefix), KeyPrefix, IsPrefix, "give 1 to 64 letters, digits or -_.; a colon ends the prefix in keys") ?? KeyPrefix;
        Node = section.Text(nameof(Node), Node, IsName, "give 1 to 64 letters, digits or -_.:") ?? Node;
        Lease = section.Time(nameof(Lease), Lease, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1));
        QueueBytes = section.Number(nameof(QueueBytes), QueueBytes, 1024 * 1024, 1024 * 1024 * 1024);
        RequireBackplane = section.Flag(nameof(RequireBackplane), RequireBackplane);
    }

    private static bool IsPrefix(string? text) => IsName(text) && !text!.Contains(':', StringComparison.Ordinal);

    private static bool IsName(string? text) =>
        text is { Length: > 0 and <= 64 }
        && text.All(static c => char.IsAsciiLetterOrDigit(c) || "-_.:".Contains(c, StringComparison.Ordinal));

    // The text may contain a password anywhere: the message names only the number of the wrong part.
    private static string? WhatIsWrong(string? text)
    {
        const string example = "give addresses and options of Redis, for example 127.0.0.1:6379";
        if (string.IsNullOrWhiteSpace(text))
        {
            return example;
        }

        if (ConnectionText.IsUrl(text))
        {
            return Parse(text) is { EndPoints.Count: > 0 } ? null
                : "give redis://user:password@host:6379/0?option=value, rediss:// for TLS; in the password %40 is @, %2C a comma, %2F a "
                    + "slash, %3F a question mark, %25 a percent sign";
        }

        string[] parts = text.Split(',');
        if (Parse(text) is { } whole)
        {
            return whole.EndPoints.Count == 0 ? $"it has no address; {example}"
                : RestOfPassword(parts) is { } rest
                    ? $"part {rest + 1} of {parts.Length}, between commas, is an address after a password. Put addresses first; a "
                        + "password with a comma is given as redis://:PASSWORD@127.0.0.1:6379 with %2C for the comma"
                : null;
        }

        int wrong = Array.FindIndex(parts, static part => part.Length != 0 && Parse(part) is null);
        return wrong < 0 ? example
            : $"part {wrong + 1} of {parts.Length}, between commas, is neither an address nor a known option with a value; {example}";
    }

    // The text after a comma in a password would be read as another server, and appear in messages.
    private static int? RestOfPassword(string[] parts)
    {
        int password = Array.FindIndex(parts, static part => part.TrimStart().StartsWith("password=", StringComparison.OrdinalIgnoreCase));
        int address = password < 0 ? -1 : Array.FindIndex(parts, password, IsAddress);
        return address >= 0 && Array.FindIndex(parts, 0, password, IsAddress) >= 0 ? address : null;

        static bool IsAddress(string part) => part.Trim().Length != 0 && !part.Contains('=', StringComparison.Ordinal);
    }

    private static ConfigurationOptions? Parse(string text)
    {
        try
        {
            return ConnectionText.Parse(text);
        }
        catch (Exception e) when (e is ArgumentException or FormatException)
        {
            return null;
        }
    }
}
