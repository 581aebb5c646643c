namespace FastPort.Comparisons.Hostile;

/// <summary>Names of the test's users and roles, and what they may do.</summary>
internal static class HostileUsers
{
    /// <summary>The user that good clients are, and its role.</summary>
    public const string Good = "good";

    /// <summary>The user that attackers are who have a password, and its role.</summary>
    public const string Guest = "guest";

    /// <summary>Good users may everything, guests what they need for an attack.</summary>
    public const string Policy = """
        {
          "rules": [
            { "for": ["role:good"], "send": ["*"], "relayTo": ["*"], "publish": ["plant/*"], "subscribe": ["plant/*"] },
            { "for": ["role:guest"], "send": ["0x0100-0x0103"], "publish": ["noise/*"], "subscribe": ["noise/*"] }
          ]
        }
        """;
}
