using FastPort.Protocol;
using Microsoft.Extensions.Configuration;

namespace FastPort.Programs.Hosting;

/// <summary>The clients that may see the live figures of the server: configuration key <c>Status:Access</c>.</summary>
internal enum StatusAccess
{
    /// <summary>Peers on this machine.</summary>
    Local,

    /// <summary>All clients.</summary>
    All,

    /// <summary>No clients.</summary>
    None,
}

/// <summary>Registers the answer to requests for the live figures.</summary>
internal static class StatusAccessRegistration
{
    private const string Key = "Status:Access";

    /// <summary>
    /// Answers the peers that the configuration allows; without the key, peers on this machine. The start names a wrong value.
    /// </summary>
    public static FastPortBuilder MapStatus(this FastPortBuilder builder, IConfiguration configuration)
    {
        string text = configuration[Key] ?? nameof(StatusAccess.Local);
        if (!Enum.TryParse(text, ignoreCase: true, out StatusAccess access) || !Enum.IsDefined(access))
        {
            StartProblems.Add(
                builder.Services, [$"{Key} is '{text}'; allowed: {string.Join(", ", Enum.GetNames<StatusAccess>())}."]);
        }

        Func<Session, bool> allow = access == StatusAccess.All ? static _ => true : ServerStatusHandler.IsLocal;
        return access == StatusAccess.None ? builder : builder.MapStatus(allow);
    }
}
