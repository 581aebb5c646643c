using System.Reflection;
using FastPort.Configuration;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace FastPort.OpcUa.Tests.Hosting;

/// <summary>Compares an options class with what is read of its section.</summary>
internal static class OptionKeys
{
    /// <summary>Sets each option in a configuration and expects it in the options.</summary>
    /// <param name="codeOnly">Options that only code can set.</param>
    public static void AssertComplete<TOptions>(params string[] codeOnly)
        where TOptions : IDescribedOptions, new()
    {
        PropertyInfo[] properties = [.. typeof(TOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .Where(p => !codeOnly.Contains(p.Name))];
        Assert.NotEmpty(properties);
        foreach (PropertyInfo property in properties)
        {
            (string Key, string Value, object Expected)? given = Example(property.PropertyType, property.GetValue(new TOptions()));
            if (given is not { } example)
            {
                // A section in the section.
                Assert.EndsWith("Options", property.PropertyType.Name, StringComparison.Ordinal);
                foreach (PropertyInfo part in property.PropertyType.GetProperties())
                {
                    Read(new TOptions(), $"{property.Name}:{part.Name}", "true");
                }

                continue;
            }

            var options = new TOptions();
            Read(options, $"{property.Name}{example.Key}", example.Value);

            Assert.Equal(example.Expected, property.GetValue(options));
        }
    }

    // Values may be out of range; their keys are known.
    private static void Read<TOptions>(TOptions options, string key, string value)
        where TOptions : IDescribedOptions
    {
        List<string> problems = [];
        IConfiguration configuration = Hosts.Create(($"S:{key}", value)).Configuration;
        OptionSection.Visit("S", problems, configuration.GetSection("S"), options.Describe);
        Assert.DoesNotContain(problems, static one => one.Contains("not a known key", StringComparison.Ordinal));
    }

    private static (string Key, string Value, object Expected)? Example(Type type, object? byDefault) =>
        type == typeof(string) ? (string.Empty, "text", "text")
        : type == typeof(int) || type == typeof(int?) ? (string.Empty, "12345", 12345)
        : type == typeof(bool) ? (string.Empty, $"{!(bool)byDefault!}", !(bool)byDefault)
        : type == typeof(TimeSpan) ? (string.Empty, "00:12:34", new TimeSpan(0, 12, 34))
        : type.IsEnum ? (string.Empty, Enum.GetNames(type)[2], Enum.GetValues(type).GetValue(2)!)
        : type == typeof(IList<string>) ? (":0", "text", new List<string> { "text" })
        : type == typeof(IList<OpcUaSecurityPolicy>)
            ? (":0", "Aes256Sha256RsaPss", new List<OpcUaSecurityPolicy> { OpcUaSecurityPolicy.Aes256Sha256RsaPss })
        : type == typeof(IList<MessageSecurityMode>)
            ? (":0", "SignAndEncrypt", new List<MessageSecurityMode> { MessageSecurityMode.SignAndEncrypt })
        : null;
}
