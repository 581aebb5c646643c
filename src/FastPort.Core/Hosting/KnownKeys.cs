using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;

namespace FastPort.Hosting;

/// <summary>Finds keys of a configuration section that no option has, misspelt ones for the most part.</summary>
internal static class KnownKeys
{
    /// <summary>Appends a sentence for every key of the section that is no property of the options.</summary>
    public static void Check(
        ICollection<string> problems,
        IConfigurationSection section,
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicProperties)] Type options)
    {
        string[] known = Array.ConvertAll(options.GetProperties(), static p => p.Name);
        foreach (IConfigurationSection child in section.GetChildren())
        {
            if (!known.Contains(child.Key, StringComparer.OrdinalIgnoreCase))
            {
                problems.Add($"{child.Path} is no known key; known are {string.Join(", ", known)}.");
            }
        }
    }
}
