using System.Globalization;
using StackExchange.Redis;

namespace FastPort.Redis.Connecting;

/// <summary>
/// Reads the address of Redis: the text of StackExchange.Redis, or a URL, <c>redis://user:password@host:6379/0?option=value</c>, with
/// <c>rediss://</c> for TLS. A URL may have several hosts, separated by commas; without a port it is 6379 for both, and for Sentinels their
/// default. A password in it may have any characters, percent-encoded.
/// </summary>
internal static class ConnectionText
{
    private const string Plain = "redis://";
    private const string Encrypted = "rediss://";

    /// <summary>Whether it is a URL.</summary>
    public static bool IsUrl(string text) =>
        text.StartsWith(Plain, StringComparison.OrdinalIgnoreCase) || text.StartsWith(Encrypted, StringComparison.OrdinalIgnoreCase);

    /// <summary>Reads it.</summary>
    /// <exception cref="ArgumentException">
    /// It cannot be read, as for <see cref="FormatException"/>. The message may contain a part of it, and thus of a password.
    /// </exception>
    public static ConfigurationOptions Parse(string text) => IsUrl(text) ? ParseUrl(text) : ConfigurationOptions.Parse(text);

    private static ConfigurationOptions ParseUrl(string text)
    {
        bool isEncrypted = text.StartsWith(Encrypted, StringComparison.OrdinalIgnoreCase);
        string rest = text[(isEncrypted ? Encrypted : Plain).Length..];
        (rest, string query) = Cut(rest, rest.IndexOf('?', StringComparison.Ordinal));
        (rest, string database) = Cut(rest, rest.IndexOf('/', StringComparison.Ordinal));
        int at = rest.LastIndexOf('@');
        string[] hosts = rest[(at + 1)..].Split(',');
        string[] options = [.. query.Split('&', StringSplitOptions.RemoveEmptyEntries).Select(Uri.UnescapeDataString)];
        if (hosts.Any(static host => host.Length == 0 || host.Contains('=', StringComparison.Ordinal))
            || options.Any(static option =>
                option.Contains(',', StringComparison.Ordinal) || !option.Contains('=', StringComparison.Ordinal)))
        {
            // An option without a value would be one more host.
            throw new FormatException("A host is empty, or an option has a comma or no value.");
        }

        var connection = ConfigurationOptions.Parse(string.Join(',', hosts.Concat(options)));
        if (string.IsNullOrEmpty(connection.ServiceName))
        {
            // Before TLS is set, for which its default port differs.
            connection.SetDefaultPorts();
        }

        connection.Ssl |= isEncrypted;
        if (database.Length != 0)
        {
            connection.DefaultDatabase = int.TryParse(database, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
                ? number
                : throw new FormatException("The database is not a number.");
        }

        if (at >= 0)
        {
            string user = rest[..at];
            int colon = user.IndexOf(':', StringComparison.Ordinal);
            if (colon < 0)
            {
                throw new FormatException("There is a user without a password.");
            }

            connection.User = colon == 0 ? connection.User : Uri.UnescapeDataString(user[..colon]);
            connection.Password = Uri.UnescapeDataString(user[(colon + 1)..]);
        }

        return connection;
    }

    // The text before and after a position; all of it and nothing if there is none.
    private static (string Before, string Behind) Cut(string text, int place) =>
        place < 0 ? (text, string.Empty) : (text[..place], text[(place + 1)..]);
}
